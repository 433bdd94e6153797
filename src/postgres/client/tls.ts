// TLS according to sslmode in the URL. Not left to the driver, so that a connection can be dropped in any state: the driver
// stops listening to its TLS socket, and a later error of that socket would end the process.
import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { ConnectionClosed, failureOf } from './errors.ts';

/** Protocol message that requests TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 'S';

/** Undefined if the URL does not ask for TLS. */
export function tlsModeOf({ searchParams }: URL): string | undefined {
  const mode = searchParams.get('sslmode') ?? searchParams.get('ssl') ?? 'disable';
  return mode === 'disable' || mode === 'false' ? undefined : mode;
}

/**
 * Returns the socket to use. Throws TlsRefused if the server's TLS cannot be used; a connection that fails before it is secure
 * throws its own error. Has no timeout: destroy the socket to end it.
 */
export async function secure(raw: Socket, host: string, mode: string): Promise<Socket> {
  raw.on('error', () => {}); // `next` below and the TLS socket report errors
  raw.write(SSL_REQUEST);
  const reply = (await next(raw, 'data')) as Buffer;
  if (reply.toString('latin1') !== YES) {
    if (mode === 'prefer' || mode === 'allow') return raw;
    throw new TlsRefused('the server offers no TLS');
  }
  // Like libpq: only the verify-… modes check the certificate, and verify-ca does not check its name.
  const rejectUnauthorized = mode.startsWith('verify') || mode === 'true';
  const name = isIP(host) ? {} : { servername: host };
  const nameCheck = mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {};
  const socket = connect({ socket: raw, host, rejectUnauthorized, ...name, ...nameCheck });
  try {
    await next(socket, 'secureConnect');
  } catch (error) {
    socket.destroy();
    if (failureOf(error) === 'not-begun') throw error;
    throw new TlsRefused((error as Error).message, { cause: error });
  }
  return socket;
}

function next(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (cause?: Error) => {
      const isCut = !cause || failureOf(cause) === 'lost';
      reject(
        isCut ? new ConnectionClosed('the connection was closed before it was secure', { cause }) : cause,
      );
    };
    socket
      .once(event, resolve)
      .once('error', fail)
      .once('close', () => fail());
  });
}

class TlsRefused extends Error {
  readonly code = 'TLS_REFUSED';
}
