// Sends an answer that comes in pieces, as fast as the client takes them and no faster. A short one is sent whole, with
// its length.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** From this length on an answer is sent while it is being made. */
const LONG_CHARS = 262_144;

/** Throws what the pieces throw, unless some are sent: then the connection is cut, for a client must not take it as complete. */
export async function sendPieces(
  pieces: AsyncIterable<string>,
  request: FastifyRequest,
  reply: FastifyReply,
  logFault: (error: unknown) => void,
): Promise<FastifyReply> {
  const iterator = pieces[Symbol.asyncIterator]();
  let begun = '';
  while (begun.length < LONG_CHARS) {
    const next = await iterator.next();
    if (next.done) return reply.send(begun);
    begun += next.value;
  }
  if (request.method === 'HEAD') {
    // The framework would read the stream to its end.
    await iterator.return?.();
    return reply.send(Readable.from([]));
  }
  const stream = Readable.from(goOn(begun, iterator));
  stream.once('error', (error) => {
    // Otherwise it is answered, and logged, like any error.
    if (reply.raw.headersSent) logFault(error);
  });
  return reply.send(stream);
}

async function* goOn(begun: string, iterator: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    yield begun;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}
