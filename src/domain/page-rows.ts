// Cuts what an engine has read for a page: one row more than the page has tells that more follow.

/**
 * The rows of the page, and the last one if more follow. `isRow` is false for a row that has only the total, because the page is empty.
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  isRow: (row: Row) => boolean = () => true,
): { page: Row[]; last: Row | undefined } {
  const page = rows.slice(0, limit).filter(isRow);
  return { page, last: rows.length > limit ? page.at(-1) : undefined };
}
