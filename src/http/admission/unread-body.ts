// Errors, also those of requests whose body is refused before all of it has arrived. Then the connection closes after the response,
// but not at once: closing a socket that has unread bytes resets the connection, and many clients then lose the response.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '../../domain/errors.ts';
import { beginError } from '../response/errors.ts';

/** How long, and how much of it, the rest of a body is read and thrown away. After that the client may lose the response. */
const MAX_DISCARD_MS = 2_000;
const MAX_DISCARDED_BYTES = 16 * 2 ** 20;

/** Bodies that are read and thrown away at the same time. Beyond that, connections close at once: reading costs time, too. */
const MAX_DISCARDING = 32;
let discarding = 0;

/** The rest of a body up to this length is read to keep the connection, as node:http does. */
const SHORT_BODY_BYTES = 65_536;

/** Sends the error, or a page that says it. */
export function sendError(reply: FastifyReply, error: AppError, page?: string): FastifyReply {
  const text = beginError(reply, error, page);
  // node:http would read the rest of the body, however long, to keep the connection.
  const mayRetry = reply.statusCode === 429 || reply.statusCode === 503;
  const isConnectionRefused = reply.request.client?.connection?.refusal !== undefined;
  if (mayRetry && (isConnectionRefused || hasLongRest(reply.request))) reply.header('connection', 'close');
  return isRestToBeRead(reply) ? sendBeforeBody(reply, text) : reply.send(text);
}

/** Whether a long body, or one of unknown length, is still to come. */
function hasLongRest({ raw }: FastifyRequest): boolean {
  return isUnread(raw) && !(Number(raw.headers['content-length']) <= SHORT_BODY_BYTES);
}

/** Whether there is a body that has not arrived completely. In the turn of the event loop in which it arrives, no request is complete. */
function isUnread({ complete, headers }: FastifyRequest['raw']): boolean {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return hasBody && !complete;
}

/** Whether the connection closes after this response although bytes of the request are still to come, and they can be read. */
function isRestToBeRead(reply: FastifyReply): boolean {
  const closes = reply.getHeader('connection') === 'close';
  return closes && isUnread(reply.request.raw) && discarding < MAX_DISCARDING;
}

/** Sends the whole response at once, but ends it, and so closes the connection, only when the rest of the body has arrived. */
function sendBeforeBody(reply: FastifyReply, text: string): FastifyReply {
  const bytes = Buffer.from(text);
  async function* payload() {
    yield bytes;
    discarding++;
    await discardBody(reply.request.raw).finally(() => discarding--);
  }
  return reply.header('content-length', bytes.length).send(Readable.from(payload(), { objectMode: false }));
}

function discardBody(raw: FastifyRequest['raw']): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, MAX_DISCARD_MS);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    raw.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_DISCARDED_BYTES) stop();
    });
    raw.once('end', stop).once('close', stop);
    if (raw.readableEnded || raw.destroyed) stop();
  });
}
