// Request bodies: JSON in strict UTF-8. Bytes are limited while they arrive, values before they are parsed. The domain
// validates the values.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, invalid } from '../../domain/errors.ts';
import { MAX_SHOWN_NAMES, safeName } from '../../domain/shape.ts';

/** Limit of a body that holds no event. The largest valid one is a deletion of 100 events, every character escaped: 15,960. */
export const MAX_BODY_BYTES = 16_384;
/** Limit of a body that holds an event, or an MCP message. The largest valid event has 157,200 bytes. */
export const MAX_EVENT_BODY_BYTES = 1_048_576;
/** Limit of a body's values at any depth, and so of its depth. Ten times as many as a batch of ten creates at /mcp has. */
export const MAX_BODY_VALUES = 2_000;

/** Follows the bytes of bodies that are being received and are held in memory. */
export interface BodyMeter {
  /** Called before the body is read, with 0, and for every chunk, before it is kept. Throws an AppError to refuse the body. */
  received(request: FastifyRequest, bytes: number): void;
  /** Called once for every body whose reading began: it is parsed, it was refused, or its client left. */
  finished(request: FastifyRequest): void;
}

const NO_METER: BodyMeter = { received() {}, finished() {} };

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

type Done = (error: Error | null, body?: unknown) => void;

/**
 * Makes the server accept JSON only, up to the `bodyLimit` of the route. Invalid JSON is a VALIDATION_ERROR (422); an empty
 * body counts as no body. Fastify adds `Connection: close` to the error of every refused body.
 */
export function acceptJson(app: FastifyInstance, meter: BodyMeter = NO_METER): void {
  app.removeAllContentTypeParsers();
  acceptType(app, JSON_TYPE, meter, parseJson);
}

/** Makes these routes accept HTML forms, too: the body is a Map of their fields. A repeated field is a VALIDATION_ERROR. */
export function acceptForms(app: FastifyInstance, meter: BodyMeter = NO_METER): void {
  acceptType(app, FORM_TYPE, meter, (body) => parseForm(decodeUtf8(body), 'body'));
}

type Parse = (body: Buffer) => unknown;

function acceptType(app: FastifyInstance, type: RegExp, meter: BodyMeter, parse: Parse): void {
  app.addContentTypeParser(type, (request, _raw, done) => {
    const { 'content-encoding': encoding, 'content-length': announced } = request.headers;
    if (encoding !== undefined && encoding !== 'identity') {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body has a Content-Encoding. Send it uncompressed.');
    }
    const maxBytes = request.routeOptions.bodyLimit!;
    if (Number(announced) > maxBytes) throw tooLarge(maxBytes);
    meter.received(request, 0); // refuses without reading
    receive(request, maxBytes, meter, parse, done as Done);
  });
}

/** Reads the body from the socket and passes it to `done`, parsed. */
function receive(
  request: FastifyRequest,
  maxBytes: number,
  meter: BodyMeter,
  parse: Parse,
  done: Done,
): void {
  const { raw } = request;
  let held: Buffer = EMPTY;
  let length = 0;

  const finish = (error: Error | null) => {
    raw.off('data', onData).off('end', onEnd).off('error', onLeft).off('close', onLeft);
    let failure = error;
    let body: unknown;
    try {
      if (!error) body = parse(held.subarray(0, length));
    } catch (thrown) {
      failure = thrown as Error;
    }
    meter.finished(request);
    done(failure, body);
  };
  const onData = (chunk: Buffer) => {
    try {
      if (length + chunk.length > maxBytes) throw tooLarge(maxBytes);
      meter.received(request, chunk.length);
    } catch (error) {
      finish(error as Error);
      return;
    }
    held = append(held, length, chunk, maxBytes);
    length += chunk.length;
  };
  const onEnd = () => finish(null);
  const onLeft = () =>
    finish(new AppError('BAD_REQUEST', 'The connection closed before the body was complete.'));
  // The client may have left during the access check; then there are no more events.
  if (raw.destroyed) onLeft();
  else raw.on('data', onData).on('end', onEnd).on('error', onLeft).on('close', onLeft);
}

const EMPTY = Buffer.alloc(0);

/**
 * Appends a chunk to the bytes held. Most bodies are one chunk, which is not copied. Otherwise one buffer grows by doubling:
 * a list of chunks would hold hundreds of bytes for each, and a client may send one byte per chunk.
 */
function append(held: Buffer, length: number, chunk: Buffer, maxBytes: number): Buffer {
  if (length === 0) return chunk;
  const neededBytes = length + chunk.length;
  let grown = held;
  if (neededBytes > held.length) {
    grown = Buffer.allocUnsafe(Math.min(maxBytes, 2 * neededBytes));
    held.copy(grown, 0, 0, length);
  }
  chunk.copy(grown, length);
  return grown;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw invalid([{ loc: ['body'], msg: 'must be valid UTF-8', type: 'json_invalid' }]);
  }
}

/**
 * Fields of a form, or of a query, without empty ones (RFC 6749, 3.1). Throws VALIDATION_ERROR if one is repeated, because two readers might
 * take different ones, or contains NUL, which PostgreSQL cannot store.
 */
export function parseForm(text: string, at: 'body' | 'query'): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name))
      throw invalid([{ loc: [at], msg: `${safeName(name)} is repeated`, type: 'value_error' }]);
    if (value.includes('\0'))
      throw invalid([{ loc: [at], msg: `${safeName(name)} must not contain NUL`, type: 'value_error' }]);
    if (value !== '') fields.set(name, value);
  }
  return fields;
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (hasMoreValues(body, MAX_BODY_VALUES)) {
    const message = `The body has too many JSON values. Send at most ${MAX_BODY_VALUES}.`;
    throw new AppError('PAYLOAD_TOO_LARGE', message);
  }
  const text = decodeUtf8(body);
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    const where = position === undefined ? '' : `, see character ${position}`;
    throw invalid([{ loc: ['body'], msg: `must be valid JSON${where}`, type: 'json_invalid' }]);
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** A long string is searched for its end by native code; for a short one, a loop is faster than the call. */
const SHORT_STRING_BYTES = 32;

/**
 * Whether the JSON has more than `max` values. A value of two bytes takes far more time and memory once it is parsed, so the size of a
 * body alone does not limit what it costs. The least that a value needs is two bytes: itself and a comma or bracket.
 */
export function hasMoreValues(json: Buffer, max: number): boolean {
  return json.length > 2 * max && countValues(json, max) > max;
}

/**
 * Counts objects, lists and the values in them at any depth, but not the names of fields. Stops above `max`. Exact for valid
 * JSON; of invalid JSON it counts what looks like values.
 */
export function countValues(json: Buffer, max: number): number {
  // The outermost value, and for every list or object that is not empty one more than it has commas.
  let count = 1;
  for (let at = 0; at < json.length && count <= max; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) at = findStringEnd(json, at + 1);
    else if (byte === COMMA) count++;
    else if (isOpening(byte)) {
      while (isSpace(json[at + 1])) at++;
      if (!isClosing(json[at + 1])) count++;
    }
  }
  return count;
}

/** Position of the closing quote; the length of the text if there is none. */
function findStringEnd(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length) {
    const near = Math.min(json.length, at + SHORT_STRING_BYTES);
    while (at < near) {
      const byte = json[at]!;
      if (byte === QUOTE) return at;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = json.indexOf(QUOTE, at);
    if (quote < 0) break;
    // A quote is escaped if the number of backslashes before it is odd.
    let first = quote;
    while (first > at && json[first - 1] === BACKSLASH) first--;
    if ((quote - first) % 2 === 0) return quote;
    at = quote + 1;
  }
  return json.length;
}

/** [ and { differ in one bit, as do ] and }. */
function isOpening(byte: number): boolean {
  return (byte | 0x20) === 0x7b;
}

function isClosing(byte: number | undefined): boolean {
  return byte !== undefined && (byte | 0x20) === 0x7d;
}

function isSpace(byte: number | undefined): boolean {
  return byte !== undefined && byte <= 0x20;
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body is too large. Send at most ${formatBytes(maxBytes)}.`);
}

/** A limit in words, such as 16 KiB. */
export function formatBytes(bytes: number): string {
  return bytes < 2 ** 20 ? `${bytes / 2 ** 10} KiB` : `${bytes / 2 ** 20} MiB`;
}

/** Names of the body's unknown fields for a header; undefined if there are none, or if the body is no object. */
export function unknownFields(body: unknown, known: ReadonlySet<string>): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  let unknown: Set<string> | undefined;
  for (const name in body) {
    if (known.has(name)) continue;
    unknown ??= new Set();
    unknown.add(safeName(name));
    if (unknown.size === MAX_SHOWN_NAMES) break;
  }
  return unknown && [...unknown].join(', ');
}
