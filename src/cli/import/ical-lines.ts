// Unfolds the lines of a file to iCalendar content lines (RFC 5545, 3.1). Works on bytes, because a fold may split a character.
// Memory is bounded for lines of any length.
import { type Line, MAX_LINE_BYTES, readLines } from '../ndjson.ts';

/** Parts are joined at this number: even a part of a few bytes takes much more in memory. */
const MAX_PARTS = 1_000;
const SPACE = 0x20;
const TAB = 0x09;

/** Yields the content lines completed by each chunk. A content line has the number of its first line. */
export async function* unfold(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let number = 0;
  let parts: Buffer[] = [];
  let length = 0;
  const take = (): Line[] => {
    if (number === 0) return [];
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    return [{ number, bytes: length > MAX_LINE_BYTES ? undefined : bytes }];
  };
  for await (const lines of readLines(chunks)) {
    const unfolded: Line[] = [];
    for (const { number: at, bytes } of lines) {
      const isFolded = number > 0 && (bytes?.[0] === SPACE || bytes?.[0] === TAB);
      if (!isFolded) {
        unfolded.push(...take());
        number = at;
        parts = [];
        length = 0;
      }
      length += bytes?.length ?? MAX_LINE_BYTES + 1;
      if (length > MAX_LINE_BYTES) parts = [];
      else parts.push(isFolded ? bytes!.subarray(1) : bytes!);
      if (parts.length === MAX_PARTS) parts = [Buffer.concat(parts)];
    }
    yield unfolded;
  }
  yield take();
}
