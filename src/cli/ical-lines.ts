// Content lines of iCalendar (RFC 5545, 3.1) out of the lines of a file: unfolded as bytes, because a fold may lie inside of a
// letter. Memory is bounded however long a line is.
import { type Line, MAX_LINE_BYTES, readLines } from './ndjson.ts';

/** A part costs more memory than the few bytes that it may have. */
const MAX_PARTS = 1_000;
const SPACE = 0x20;
const TAB = 0x09;

/** Those that are complete with each chunk, numbered by the line on which they begin. */
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
    const whole: Line[] = [];
    for (const { number: at, bytes } of lines) {
      const isFolded = number > 0 && (bytes?.[0] === SPACE || bytes?.[0] === TAB);
      if (!isFolded) {
        whole.push(...take());
        number = at;
        parts = [];
        length = 0;
      }
      length += bytes?.length ?? MAX_LINE_BYTES + 1;
      if (length > MAX_LINE_BYTES) parts = [];
      else parts.push(isFolded ? bytes!.subarray(1) : bytes!);
      if (parts.length === MAX_PARTS) parts = [Buffer.concat(parts)];
    }
    yield whole;
  }
  yield take();
}
