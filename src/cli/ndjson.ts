// Lines of newline-delimited JSON from a stream of bytes, by the rules for HTTP bodies: strict UTF-8, up to 1 MiB. Memory is
// bounded however long a line is. What the values must be is left to the domain.
import { isUtf8 } from 'node:buffer';
import { type AppError, invalid } from '../domain/errors.ts';

export const MAX_LINE_BYTES = 1_048_576;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
/** Shared, as a file may have millions of empty lines. */
const NOTHING = Buffer.alloc(0);

export interface Line {
  /** From 1, blank lines counted. */
  readonly number: number;
  /** Without its end; undefined if it is too long. */
  readonly bytes: Buffer | undefined;
}

/** The lines of each chunk; the last one needs no end. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let number = 0;
  let begun: Buffer[] = [];
  let begunBytes = 0;
  const begin = (part: Buffer): void => {
    begunBytes += part.length;
    if (begunBytes > MAX_LINE_BYTES + 1) begun = [];
    else begun.push(part);
  };
  const end = (): Line => {
    let bytes = begun.length > 1 ? Buffer.concat(begun) : (begun[0] ?? NOTHING);
    if (bytes.at(-1) === RETURN) bytes = bytes.subarray(0, -1);
    const isTooLong = begunBytes > MAX_LINE_BYTES + 1 || bytes.length > MAX_LINE_BYTES;
    begun = [];
    begunBytes = 0;
    return { number: ++number, bytes: isTooLong ? undefined : bytes };
  };
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      if (from < to) begin(chunk.subarray(from, to));
      lines.push(end());
      from = to + 1;
    }
    if (from < chunk.length) begin(chunk.subarray(from));
    yield lines;
  }
  if (begunBytes > 0) yield [end()];
}

/** The value of a line; undefined if it is blank. Throws VALIDATION_ERROR. */
export function parseLine({ bytes }: Line): unknown {
  if (bytes === undefined) throw unreadable('must not be longer than 1 MiB');
  if (!isUtf8(bytes)) throw unreadable('must be valid UTF-8');
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  try {
    return JSON.parse(text);
  } catch (error) {
    if (/^[ \t\r]*$/.test(text)) return undefined;
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    throw unreadable(`must be valid JSON${position === undefined ? '' : `, see character ${position}`}`);
  }
}

function unreadable(msg: string): AppError {
  return invalid([{ loc: ['body'], msg, type: 'json_invalid' }]);
}
