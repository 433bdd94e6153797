// Reads newline-delimited JSON by the rules for HTTP bodies: strict UTF-8, up to 1 MiB a line. Memory is bounded for lines of
// any length. Validating the values is left to the domain.
import { isUtf8 } from 'node:buffer';
import { type AppError, invalid } from '../domain/errors.ts';

export const MAX_LINE_BYTES = 1_048_576;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Shared, because a file may have millions of empty lines. */
const EMPTY = Buffer.alloc(0);

export interface Line {
  /** Starts at 1; blank lines count. */
  readonly number: number;
  /** Without the line end; undefined if the line is too long. */
  readonly bytes: Buffer | undefined;
}

/** Yields the lines completed by each chunk. The last line of the stream needs no line end. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let number = 0;
  let partial: Buffer[] = [];
  let partialBytes = 0;
  const append = (part: Buffer): void => {
    partialBytes += part.length;
    if (partialBytes > MAX_LINE_BYTES + 1) partial = [];
    else partial.push(part);
  };
  const finish = (): Line => {
    let bytes = partial.length > 1 ? Buffer.concat(partial) : (partial[0] ?? EMPTY);
    if (bytes.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1);
    const isTooLong = partialBytes > MAX_LINE_BYTES + 1 || bytes.length > MAX_LINE_BYTES;
    partial = [];
    partialBytes = 0;
    return { number: ++number, bytes: isTooLong ? undefined : bytes };
  };
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      if (from < to) append(chunk.subarray(from, to));
      lines.push(finish());
      from = to + 1;
    }
    if (from < chunk.length) append(chunk.subarray(from));
    yield lines;
  }
  if (partialBytes > 0) yield [finish()];
}

/** Parses a line; undefined if it is blank. Throws VALIDATION_ERROR. */
export function parseLine({ bytes }: Line): unknown {
  if (bytes === undefined) throw invalidLine('must not be longer than 1 MiB');
  if (!isUtf8(bytes)) throw invalidLine('must be valid UTF-8');
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  try {
    return JSON.parse(text);
  } catch (error) {
    if (/^[ \t\r]*$/.test(text)) return undefined;
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    throw invalidLine(`must be valid JSON${position === undefined ? '' : `, see character ${position}`}`);
  }
}

function invalidLine(msg: string): AppError {
  return invalid([{ loc: ['body'], msg, type: 'json_invalid' }]);
}
