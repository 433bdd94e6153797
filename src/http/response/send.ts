// Sends the response of an endpoint. A long stream is sent at the client's pace; a short one is sent whole, with its
// length. Error responses are in errors.ts.
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { joinWire, toWire, type Wire } from '../../domain/wire.ts';
import { type EndpointResponse, Representation } from '../endpoint.ts';
import type { Backlog } from './backlog.ts';
import { ENCODERS } from './formats.ts';
import { addHeader, addVary } from './headers.ts';

/** A stream of at least this length is sent while it is being produced; a shorter one is sent whole. */
const STREAM_FROM_BYTES = 262_144;

/**
 * Throws the stream's error if nothing was sent yet. After that, an error closes the connection,
 * so that no client takes the response for complete, and is passed to `onFault`. Throws UNAVAILABLE if the backlog is over its limit.
 */
export function sendResponse(
  reply: FastifyReply,
  response: EndpointResponse,
  backlog: Backlog,
  onFault: (error: unknown) => void,
): Promise<void> | undefined {
  if (response === undefined) reply.code(204).send();
  else if (response instanceof Representation) sendRepresentation(reply, response, backlog);
  else if (typeof response === 'string') sendWire(reply, response, backlog);
  else if (Symbol.asyncIterator in response) return sendStream(reply, response, backlog, onFault);
  else sendWire(reply, toWire(JSON.stringify(response)), backlog);
  return undefined;
}

/** Bypasses Fastify, which would scan the whole text once to measure it and once more to encode it. */
function sendWire(
  reply: FastifyReply,
  wire: Wire,
  backlog: Backlog,
  contentType = ENCODERS.json.contentType,
): void {
  const isLarge = backlog.isLarge(wire.length);
  if (isLarge) backlog.add(reply, wire.length);
  reply.hijack();
  addHeader(reply, 'content-type', contentType);
  addHeader(reply, 'content-length', String(wire.length));
  reply.raw.writeHead(200, reply.pendingHeaders);
  reply.raw.end(wire, 'latin1');
  // Nearly always the system takes a small response at once, and nothing is left to count.
  if (!isLarge && reply.raw.writableLength > 0) backlog.add(reply, wire.length);
}

function sendRepresentation(reply: FastifyReply, representation: Representation, backlog: Backlog): void {
  const { wire, format, headers, isNegotiated } = representation;
  if (isNegotiated) addVary(reply, 'Accept');
  reply.pendingHeaders.push(...headers);
  if (wire !== undefined) sendWire(reply, wire, backlog, ENCODERS[format].contentType);
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
  backlog: Backlog,
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
    if (next.done) return sendWire(reply, start, backlog);
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
