// Sends the response of an endpoint. A long stream is sent at the client's pace; a short one is sent whole, with its
// length. Error responses are in errors.ts.
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { joinWire, toWire, type Wire } from '../../domain/wire.ts';
import { ENCODERS, type Format } from './formats.ts';
import { addHeader, addVary } from './headers.ts';

/** Encoded JSON, whole or streamed; a representation; a value to encode as JSON; or undefined for a 204. */
export type EndpointResponse = Wire | AsyncIterable<Wire> | Representation | object | undefined;

/** An event or a page of events in one of its formats. */
export class Representation {
  /** Undefined sends a 304: the client already has it. */
  readonly wire: Wire | undefined;
  readonly format: Format;
  /** True if the response depends on Accept, and so needs Vary. */
  readonly isNegotiated: boolean;
  /** Additional headers: names and values, alternating. */
  readonly headers: readonly string[];

  constructor(wire: Wire | undefined, format: Format, isNegotiated: boolean, headers: readonly string[]) {
    this.wire = wire;
    this.format = format;
    this.isNegotiated = isNegotiated;
    this.headers = headers;
  }
}

/** Follows the bytes of responses until their clients have read them. */
export interface ResponseMeter {
  /** Whether a response of this length is counted before it is sent. */
  isLarge(bytes: number): boolean;
  /** Throws an AppError to refuse the response. */
  add(reply: FastifyReply, bytes: number): void;
}

/** A stream of at least this length is sent while it is being produced; a shorter one is sent whole. */
const STREAM_FROM_BYTES = 262_144;

/**
 * Throws the stream's error if nothing was sent yet. After that, an error closes the connection,
 * so that no client takes the response for complete, and is passed to `onFault`. Throws what `meter` throws.
 */
export function sendResponse(
  reply: FastifyReply,
  response: EndpointResponse,
  meter: ResponseMeter,
  onFault: (error: unknown) => void,
): Promise<void> | undefined {
  if (response === undefined) reply.code(204).send();
  else if (response instanceof Representation) sendRepresentation(reply, response, meter);
  else if (typeof response === 'string') sendWire(reply, response, meter);
  else if (Symbol.asyncIterator in response) return sendStream(reply, response, meter, onFault);
  else sendWire(reply, toWire(JSON.stringify(response)), meter);
  return undefined;
}

/** Bypasses Fastify, which would scan the whole text once to measure it and once more to encode it. */
function sendWire(
  reply: FastifyReply,
  wire: Wire,
  meter: ResponseMeter,
  contentType = ENCODERS.json.contentType,
): void {
  const isLarge = meter.isLarge(wire.length);
  if (isLarge) meter.add(reply, wire.length);
  reply.hijack();
  addHeader(reply, 'content-type', contentType);
  addHeader(reply, 'content-length', String(wire.length));
  reply.raw.writeHead(200, reply.pendingHeaders);
  reply.raw.end(wire, 'latin1');
  // Nearly always the system takes a small response at once, and nothing is left to count.
  if (!isLarge && reply.raw.writableLength > 0) meter.add(reply, wire.length);
}

function sendRepresentation(reply: FastifyReply, representation: Representation, meter: ResponseMeter): void {
  const { wire, format, headers, isNegotiated } = representation;
  if (isNegotiated) addVary(reply, 'Accept');
  reply.pendingHeaders.push(...headers);
  if (wire !== undefined) sendWire(reply, wire, meter, ENCODERS[format].contentType);
  else sendNotModified(reply);
}

/** Sends a 304 with the pending headers. */
export function sendNotModified(reply: FastifyReply): FastifyReply {
  reply.hijack(); // Fastify would add a Content-Length to the response to a HEAD
  reply.raw.writeHead(304, reply.pendingHeaders);
  reply.raw.end();
  return reply;
}

async function sendStream(
  reply: FastifyReply,
  chunks: AsyncIterable<Wire>,
  meter: ResponseMeter,
  onFault: (error: unknown) => void,
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]();
  let start = joinWire('', [], '');
  while (start.length < STREAM_FROM_BYTES) {
    const next = await iterator.next();
    if (reply.request.client.isLate) {
      await iterator.return?.();
      return;
    }
    if (next.done) return sendWire(reply, start, meter);
    start = joinWire(start, [next.value], '');
  }
  reply.header('content-type', ENCODERS.json.contentType);
  if (reply.request.method === 'HEAD') {
    // Fastify would read the whole stream.
    await iterator.return?.();
    reply.send(Readable.from([]));
    return;
  }
  const stream = Readable.from(encodeChunks(start, iterator));
  stream.once('error', (error) => {
    // Before the headers are sent, the error handler responds and logs as for any error.
    if (reply.raw.headersSent) onFault(error);
  });
  reply.send(stream);
}

/** Yields the start, then what is left in the iterator. */
async function* encodeChunks(start: Wire, iterator: AsyncIterator<Wire>): AsyncGenerator<Buffer> {
  try {
    yield Buffer.from(start, 'latin1');
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      yield Buffer.from(next.value, 'latin1');
    }
  } finally {
    await iterator.return?.();
  }
}
