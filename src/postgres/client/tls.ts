// TLS as sslmode in the address asks for it. Done here rather than by the driver, so that a connection can be dropped in any
// state: the driver's own TLS socket, once it has stopped listening, ends the process with an error that nobody hears.
import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';

/** The message of the protocol that asks for TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 'S';

/** Undefined where none is wanted. */
export function tlsModeOf(address: URL): string | undefined {
  const mode = address.searchParams.get('sslmode') ?? address.searchParams.get('ssl') ?? 'disable';
  return mode === 'disable' || mode === 'false' ? undefined : mode;
}

/** The socket to use. Throws TlsRefused, or the error of the socket; it may take forever unless the socket is destroyed. */
export async function secure(raw: Socket, host: string, mode: string): Promise<Socket> {
  raw.on('error', () => {}); // it is told to whoever waits below, or by the socket around it
  raw.write(SSL_REQUEST);
  const answer = (await next(raw, 'data')) as Buffer;
  if (answer.toString('latin1') !== YES) {
    if (mode === 'prefer' || mode === 'allow') return raw;
    throw new TlsRefused('the server offers no TLS');
  }
  // As libpq has it: only the modes that verify do.
  const rejectUnauthorized = mode.startsWith('verify') || mode === 'true';
  const name = isIP(host) ? {} : { servername: host };
  const socket = connect({ socket: raw, host, rejectUnauthorized, ...name });
  try {
    await next(socket, 'secureConnect');
  } catch (cause) {
    socket.destroy();
    throw new TlsRefused((cause as Error).message, { cause });
  }
  return socket;
}

function next(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new TlsRefused('the server closed the connection'));
    socket.once(event, resolve).once('error', reject).once('close', closed);
  });
}

class TlsRefused extends Error {
  readonly code = 'TLS_REFUSED';
}
