// Sends what an endpoint answers. An answer in pieces is sent as fast as the client takes them and no faster; a short one
// is sent whole, with its length.
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { joinWire, toWire, type Wire } from '../../domain/wire.ts';
import { type Answer, Representation } from '../endpoint.ts';
import type { Backlog } from './backlog.ts';
import { FORMS } from './formats.ts';
import { addHeader, addVary } from './headers.ts';

/** From this length on an answer is sent while it is being made. */
const LONG_BYTES = 262_144;

/**
 * Throws what the pieces throw, unless some are sent: then the connection is cut, for a client must not take it as
 * complete, and `onFault` is told. Throws UNAVAILABLE where too many answers wait already.
 */
export function sendAnswer(
  reply: FastifyReply,
  answer: Answer,
  backlog: Backlog,
  onFault: (error: unknown) => void,
): Promise<void> | undefined {
  if (answer === undefined) reply.code(204).send();
  else if (answer instanceof Representation) sendRepresentation(reply, answer, backlog);
  else if (typeof answer === 'string') sendWire(reply, answer, backlog);
  else if (Symbol.asyncIterator in answer) return sendPieces(reply, answer, backlog, onFault);
  else sendWire(reply, toWire(JSON.stringify(answer)), backlog);
  return undefined;
}

/** Past the framework, which would look at every character of the text to measure it, and again to encode it. */
function sendWire(
  reply: FastifyReply,
  wire: Wire,
  backlog: Backlog,
  contentType = FORMS.json.contentType,
): void {
  backlog.add(reply, wire.length);
  reply.hijack();
  addHeader(reply, 'content-type', contentType);
  addHeader(reply, 'content-length', String(wire.length));
  reply.raw.writeHead(200, reply.standingHeaders);
  reply.raw.end(wire, 'latin1');
}

function sendRepresentation(reply: FastifyReply, answer: Representation, backlog: Backlog): void {
  const { wire, format, headers } = answer;
  if (answer.isNegotiated) addVary(reply, 'Accept');
  reply.standingHeaders.push(...headers);
  if (wire !== undefined) sendWire(reply, wire, backlog, FORMS[format].contentType);
  else {
    reply.hijack(); // the framework would give a HEAD a length
    reply.raw.writeHead(304, reply.standingHeaders);
    reply.raw.end();
  }
}

async function sendPieces(
  reply: FastifyReply,
  pieces: AsyncIterable<Wire>,
  backlog: Backlog,
  onFault: (error: unknown) => void,
): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]();
  let begun = joinWire('', [], '');
  while (begun.length < LONG_BYTES) {
    const next = await iterator.next();
    if (next.done) return sendWire(reply, begun, backlog);
    begun = joinWire(begun, [next.value], '');
  }
  reply.header('content-type', FORMS.json.contentType);
  if (reply.request.method === 'HEAD') {
    // The framework would read the stream to its end.
    await iterator.return?.();
    reply.send(Readable.from([]));
    return;
  }
  const stream = Readable.from(goOn(begun, iterator));
  stream.once('error', (error) => {
    // Otherwise it is answered, and logged, like any error.
    if (reply.raw.headersSent) onFault(error);
  });
  reply.send(stream);
}

async function* goOn(begun: Wire, iterator: AsyncIterator<Wire>): AsyncGenerator<Buffer> {
  try {
    yield Buffer.from(begun, 'latin1');
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      yield Buffer.from(next.value, 'latin1');
    }
  } finally {
    await iterator.return?.();
  }
}
