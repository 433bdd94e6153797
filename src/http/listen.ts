// Listens on the configured address with several sockets, where the system can share a port between them. Node accepts one
// connection per listening socket in each turn of the event loop: with a single one, a client that opens connections as fast
// as it can would make all others wait.
import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, Server } from 'node:net';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';

const SOCKETS = 32;

/**
 * Bytes of a body that node:http reads before the service wants it. It reads up to 64 KiB at a time, and stops when it has this
 * many: with the default of 64 KiB it would read twice. The same number limits what it holds for clients that do not read before it
 * stops to read their next requests.
 */
export const READ_AHEAD_BYTES = 16_384;

/** Connections that the system may hold for a socket until they are accepted. */
const WAITING_CONNECTIONS = 1_024;

/** A turn of the event loop that took less did nothing but look for connections. */
const QUIET_TURN_MS = 0.1;

/** Maximum time to wait for such a turn. */
const QUIET_TIMEOUT_MS = 200;

export interface Listener {
  readonly url: string;
  /** Accepts no more connections. First accepts those that wait for it: the system would reset them. */
  stopAccepting(): Promise<void>;
  /** Resolves when all connections that the other sockets accepted are closed; Fastify waits for its own. */
  closed(): Promise<void>;
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
    stopAccepting: () =>
      new Promise((resolve) => {
        whenQuiet(app.server, () => {
          for (const server of others) server.close();
          Server.prototype.close.call(app.server); // that of node:http would also close idle connections
          resolve();
        });
      }),
    closed: async () => {
      await Promise.all(others.map(untilClosed));
    },
  };
}

/** Calls `then` in a turn in which no connection waits to be accepted. `server` gets the connections of all sockets. */
function whenQuiet(server: Server, then: () => void): void {
  const untilMs = performance.now() + QUIET_TIMEOUT_MS;
  let isQuiet = false;
  const onConnection = () => {
    isQuiet = false;
  };
  server.on('connection', onConnection);
  let turnMs = performance.now();
  const look = () => {
    const nowMs = performance.now();
    if ((isQuiet && nowMs - turnMs < QUIET_TURN_MS) || nowMs > untilMs) {
      then();
      server.off('connection', onConnection);
      return;
    }
    isQuiet = true;
    turnMs = nowMs;
    setImmediate(look);
  };
  look();
}

function openOthers(app: FastifyInstance, options: ListenOptions): Promise<Server[]> {
  const accept = () =>
    // The options of node:http for its own socket.
    createServer({ allowHalfOpen: true, noDelay: true, highWaterMark: READ_AHEAD_BYTES }, (socket) =>
      app.server.emit('connection', socket),
    );
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

/** For a server that was told to close. It may be closed already. */
async function untilClosed(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve()); // also calls back, with an error, if it is not listening any more
  await promise;
}
