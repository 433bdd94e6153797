// A service on one of the engines; all requests use one connection that stays open.
import { Agent, request } from 'node:http';
import { readConfig } from '../../src/config.ts';
import type { Clock } from '../../src/domain/clock-and-random.ts';
import { getSigningKey } from '../../src/engines.ts';
import { mintToken } from '../../src/oidc/local-issuer.ts';
import { Chance } from '../support/random.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { Answer, Operation } from './operation.ts';

/** The embedded engine alone says how much memory the words of an agent take. */
const WORDS = /,"words":(?:null|\{[^}]*\})/;

/** Headers about the time and the request, which always differ. */
const BY_NATURE_DIFFERENT = new Set(['date', 'x-request-id']);

const YEARS_HOURS = 20 * 365 * 24;

export class Engine {
  readonly #service: TestService;
  readonly #authorization: string;
  readonly #address: { readonly host: string; readonly port: string };
  readonly #connection = new Agent({ keepAlive: true, maxSockets: 1 });

  private constructor(service: TestService, token: string) {
    const { hostname, port } = new URL(service.url);
    this.#service = service;
    this.#address = { host: hostname, port };
    this.#authorization = `Bearer ${token}`;
  }

  /** With the same seed and clock, two services create the same IDs and keys. */
  static async start(env: Record<string, string>, seed: number, clock: Clock): Promise<Engine> {
    const chance = new Chance(seed);
    const random = (bytes: Uint8Array) => {
      for (let at = 0; at < bytes.length; at++) bytes[at] = chance.integer(0, 255);
      return bytes;
    };
    const service = await startTestService(env, { clock, random });
    const signingKey = await getSigningKey(readConfig({ ...env, DATA_DIR: service.folder }));
    const claims = { email: 'admin@example.com', name: 'Ada', hours: YEARS_HOURS };
    return new Engine(service, await mintToken(signingKey, claims, clock()));
  }

  ask({ method, path, headers, body, asAdministrator }: Operation): Promise<Answer> {
    const all: Record<string, string> = { ...headers };
    if (body !== undefined) all['content-type'] = 'application/json';
    if (asAdministrator) all.authorization = this.#authorization;
    return new Promise((resolve, reject) => {
      const asked = request({ ...this.#address, method, path, headers: all, agent: this.#connection });
      asked.once('error', reject);
      asked.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const isOwnAgent = path === '/v1/agents/me';
          const kept = Object.entries(response.headers).filter(
            ([name]) => !BY_NATURE_DIFFERENT.has(name) && !(isOwnAgent && name === 'content-length'),
          );
          const sent = Buffer.concat(chunks).toString('utf8');
          const text = isOwnAgent ? sent.replace(WORDS, '') : sent;
          resolve({
            status: response.statusCode!,
            headers: Object.fromEntries(kept) as Answer['headers'],
            text,
          });
        });
      });
      asked.end(body);
    });
  }

  /** Warnings and errors in the log, which no response shows. */
  get faults(): readonly Record<string, unknown>[] {
    return this.#service.log.filter(({ level }) => (level as number) > 30);
  }

  async close(): Promise<void> {
    this.#connection.destroy();
    await this.#service.close();
  }
}
