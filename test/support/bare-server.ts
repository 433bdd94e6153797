// The HTTP surface without the rest of the service, for tests that bring a store of their own or need none.
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { readConfig } from '../../src/config.ts';
import type { Store } from '../../src/domain/store.ts';
import { buildServer } from '../../src/http/server.ts';
import { lazyPlaces } from '../../src/places/places.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import { type Context, KeyedQueue } from '../../src/usecases/context.ts';

type Server = ReturnType<typeof buildServer>;

interface Options extends Partial<Parameters<typeof buildServer>[0]> {
  /** What use cases get: only the parts that the test needs. */
  readonly context?: object;
}

/** A server without a log. */
export function bareServer({ context = {}, ...options }: Options = {}): Server {
  return buildServer({
    version: '1.2.3',
    corsOrigins: '*',
    trustProxy: [],
    logger: pino({ level: 'silent' }),
    newRequestId: () => 'ABCDEFGH-1',
    baseUrl: () => 'http://example.com',
    readiness: () => ({ context: context as Context }),
    ...options,
  });
}

/** Listens on a free port; returns the URL. */
export async function listen(app: Server): Promise<string> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** A context over this store in which every token is that of an administrator. */
export function contextOver(store: Store): Context {
  const identity = { subject: 'ada', email: 'ada@example.com', emailVerified: true, hostedDomain: undefined };
  return {
    store,
    clock: systemClock,
    random: systemRandom,
    policy: readConfig({}).policy,
    verifyToken: async () => ({
      identity: { ...identity, name: undefined, picture: undefined, local: true },
      expiresMs: Number.POSITIVE_INFINITY,
    }),
    console: {
      signIn: undefined,
      sessions: { seal: async () => undefined, open: async () => undefined },
      pictures: { mayLoad: () => false, load: async () => undefined },
    },
    edits: new KeyedQueue(),
    places: lazyPlaces(),
  } as Context;
}

/** A context that has nothing but an agent, to which every key belongs. */
export function contextWithAgent(policy: object = {}): object {
  const agent = { agent_id: 'one', tier: 'readwrite' };
  const store = {
    engine: 'sqlite',
    check: async () => {},
    findAgentByKey: async () => agent,
    noteUse() {},
    noteRefusal() {},
  };
  return { store, policy: { tierLimits: { readwrite: 0 }, ...policy }, clock: Date.now };
}
