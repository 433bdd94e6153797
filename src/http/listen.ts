// Listens on the configured address with several sockets, where the system can share a port between them. Node accepts one
// connection per listening socket in each turn of the event loop: with a single one, a client that opens connections as fast
// as it can would make all others wait.
import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';

const SOCKETS = 8;

/** Connections that the system may hold for a socket until they are accepted. */
const WAITING_CONNECTIONS = 1_024;

export interface Listener {
  readonly url: string;
  /** Accepts no more connections. Resolves when all that the other sockets accepted are closed; Fastify waits for its own. */
  stop(): Promise<void>;
}

/** Throws the system's error if the port cannot be used, also if another process that shares its port uses it. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<Listener> {
  const isShared = await canSharePort();
  // A shared port would not be refused to a second service by accident, so claim it alone first.
  if (isShared) await close(await open(createServer(), { host, port }));
  const options = { host, port, backlog: WAITING_CONNECTIONS, reusePort: isShared };
  await app.listen(options as FastifyListenOptions);
  const { address, port: actual, family } = app.server.address() as AddressInfo;
  const others = isShared ? await openOthers(app, { ...options, host: address, port: actual }) : [];
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`,
    stop: async () => {
      await Promise.all(others.map(close));
    },
  };
}

function openOthers(app: FastifyInstance, options: ListenOptions): Promise<Server[]> {
  const accept = () =>
    // The options of node:http for its own socket.
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => app.server.emit('connection', socket));
  return Promise.all(Array.from({ length: SOCKETS - 1 }, () => open(accept(), options)));
}

/** Linux can; macOS and Windows cannot. */
async function canSharePort(): Promise<boolean> {
  try {
    await close(await open(createServer(), { host: '127.0.0.1', port: 0, reusePort: true }));
    return true;
  } catch {
    return false;
  }
}

async function open(server: Server, options: ListenOptions): Promise<Server> {
  server.listen(options);
  await once(server, 'listening');
  return server;
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
