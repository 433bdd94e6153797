// How much two words differ.

/** Number of characters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
export function editDistance(one: string, other: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      row[j] = Math.min(row[j - 1]! + 1, last![j]! + 1, last![j - 1]! + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwapped) row[j] = Math.min(row[j]!, before![j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last!.at(-1)!;
}
