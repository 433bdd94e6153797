// Invalid and odd requests, the same in every run: none may break the service, get a response that /openapi.json does not
// describe, or get a key back. Afterwards all data must be intact.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { readConfig } from '../../src/config.ts';
import { newApiKey } from '../../src/domain/api-key.ts';
import { ERRORS, type ErrorCode } from '../../src/domain/errors.ts';
import { getSigningKey } from '../../src/engines.ts';
import { mintToken } from '../../src/oidc/local-issuer.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { systemRandom } from '../../src/system.ts';
import { Description } from '../acceptance/description.ts';
import { type Answer, Client, newEvent } from '../support/client.ts';
import { RawConnection } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { encode, type FuzzRequest, fuzzRequests, type Material } from './fuzz-requests.ts';

const SEED = 20_261_115;
/** Requests that must be refused. REQUESTS is larger, because some odd requests happen to be valid. */
const REFUSED = size(2_000, 20_000);
const REQUESTS = REFUSED * 1.4;
const MIN_PER_STATUS = size(2, 20);
const WRONG_LENGTHS = size(60, 300);
const CONNECTIONS = 24;

describe(`${REFUSED} invalid and odd requests`, () => {
  let service: TestService;
  let description: Description;
  let material: Material;
  let keeperKey: string;
  let kept: object;
  const keeper = () => new Client(service.url, { 'x-api-key': keeperKey });
  const statuses = new Map<number, number>();

  before(async () => {
    service = await startTestService();
    description = new Description((await service.client.get('/openapi.json')).body);
    material = await makeMaterial(service);
    const body = { email: 'keeper@example.com', agent_name: 'keeper' };
    keeperKey = (await service.client.post('/v1/auth/register', body)).body.api_key;
    kept = await keeper().create({ title: 'kept', lat: -80, lng: -170 });
  });
  after(() => service.close());

  /** Asserts what holds for every response. */
  function check(sent: FuzzRequest, answer: Answer): void {
    const { status, text } = answer;
    const shown = `${inspect(sent)}\n→ ${status} ${text.slice(0, 500)}`;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    assert.ok(status < 500, shown);
    const headers = Object.fromEntries(answer.headers);
    assert.match(headers['x-request-id'] ?? '', /^[0-9A-Z]{8}-[0-9a-z]+$/, shown);
    const everything = JSON.stringify(headers) + text;
    for (const key of material.keys) assert.ok(!everything.includes(key), `a key comes back: ${shown}`);
    const asksForPage = sent.headers.some(([name, value]) => /^accept$/i.test(name) && value === 'text/html');
    const isApi = /^\/(?:v1|\.well-known)(?:[/?]|$)/.test(sent.target);
    if (status === 404 && asksForPage && !isApi) {
      assert.match(headers['content-type']!, /^text\/html/, shown);
      return;
    }
    if (status >= 400 && sent.method !== 'HEAD') {
      const code = answer.body?.error?.code as ErrorCode;
      assert.equal(ERRORS[code]?.status, status, shown);
      assert.equal(Array.isArray(answer.body.detail), status === 422, shown);
    }
    description.check({ method: sent.method, path: plainPath(sent.target), status, headers, text });
  }

  it('get responses as /openapi.json describes, never a 5xx and never a key', async () => {
    const requests = fc.sample(fuzzRequests(material), { seed: SEED, numRuns: REQUESTS });
    const queue = requests.values();
    const work = async () => {
      let connection = await RawConnection.open(service.url);
      for (const sent of queue) {
        connection.write(encode(sent));
        const answer = await connection.next(sent.method);
        assert.ok(answer, `no answer: ${inspect(sent)}`);
        check(sent, answer);
        if (answer.headers.get('connection') === 'close') {
          connection.destroy();
          connection = await RawConnection.open(service.url);
        }
      }
      connection.destroy();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    const refused = [...statuses].reduce((sum, [status, count]) => sum + (status >= 400 ? count : 0), 0);
    assert.ok(refused >= REFUSED, `only ${refused} were refused`);
    for (const status of [200, 204, 400, 401, 403, 404, 405, 414, 415, 422, 431]) {
      assert.ok(
        (statuses.get(status) ?? 0) > MIN_PER_STATUS,
        `hardly any ${status}: ${JSON.stringify([...statuses])}`,
      );
    }
  });

  it('get a response even if the length of the body is wrong', async () => {
    const withBody = fuzzRequests(material).filter(({ body }) => body !== undefined && body.length > 50);
    const difference = fc.oneof(fc.integer({ min: -40, max: -1 }), fc.integer({ min: 1, max: 100_000 }));
    const cases = fc.sample(fc.tuple(withBody, difference), { seed: SEED, numRuns: WRONG_LENGTHS });
    const queue = cases.values();
    const work = async () => {
      for (const [request, more] of queue) {
        // Bytes beyond a Content-Length that is too small must not look like the next request.
        const body = Buffer.concat([request.body!.subarray(0, -40), Buffer.alloc(40, '!')]);
        const kept = request.headers.filter(
          ([name]) => !/^(content-length|connection|expect|bad name)$/i.test(name),
        );
        const headers = [...kept, ['Content-Length', String(body.length + more)] as const];
        const sent = { ...request, method: 'POST', headers, body: undefined };
        const connection = await RawConnection.open(service.url);
        connection.write(Buffer.concat([encode(sent), body]));
        if (more > 0) connection.socket.end();
        const answer = await connection.next();
        assert.ok(answer, `no answer: ${inspect(sent)}`);
        check(sent, answer);
        await connection.closed;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
  });

  it('leave no error and no key in the log', () => {
    assert.deepEqual(
      service.log.filter(({ level }) => level !== 30),
      [],
    );
    const log = JSON.stringify(service.log);
    for (const key of material.keys) assert.ok(!log.includes(key));
  });

  it('leave a working service with an intact store', async () => {
    const { event_id } = kept as { event_id: string };
    await keeper().create({ title: 'afterwards', lat: -80, lng: -170, start_at: '2032-01-01T00:00:00Z' });
    const found = await keeper().nearby({ lat: -80, lng: -170, radius: 1 });
    assert.deepEqual(found.body.events[0], kept);
    const world = (await keeper().nearby({ limit: 100 })).body;
    const { agents } = (await (await service.newAdministrator()).get('/v1/admin/agents')).body;
    await service.close();

    const database = new DatabaseSync(databasePath(service.folder));
    assert.deepEqual(
      database
        .prepare('PRAGMA integrity_check')
        .all()
        .map((row) => row.integrity_check),
      ['ok'],
    );
    assert.deepEqual(database.prepare('PRAGMA foreign_key_check').all(), []);
    const miscounted = database.prepare(
      'SELECT * FROM agents a WHERE event_count <> (SELECT count(*) FROM events e WHERE e.agent_id = a.agent_id)',
    );
    assert.deepEqual(miscounted.all(), []);
    database.close();

    service = await startTestService({ DATA_DIR: service.folder });
    assert.deepEqual((await keeper().get(`/v1/events/${event_id}`)).body, kept);
    assert.deepEqual((await keeper().nearby({ limit: 100 })).body, world);
    const reread = (await (await service.newAdministrator()).get('/v1/admin/agents')).body.agents;
    const names = (list: { id: string }[]) => list.map(({ id }) => id);
    assert.deepEqual(names(reread), names(agents));
  });
});

/** Registers agents with events for the requests to use; `keys` must never appear in a response. */
async function makeMaterial(service: TestService): Promise<Material> {
  const signingKey = await getSigningKey(readConfig({ DATA_DIR: service.folder }));
  const claims = { email: 'admin@example.com', name: undefined, hours: 1 };
  const authorization = `Bearer ${await mintToken(signingKey, claims, Date.now())}`;
  const keys: string[] = [];
  const eventIds: string[] = ['01JZ9GX4T0QW3N1V8R5Y7K2MHD'];
  const agentIds: string[] = ['0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90'];
  const register = async () => {
    const body = { email: 'agent@example.com', agent_name: 'fuzzed' };
    const { api_key } = (await service.client.post('/v1/auth/register', body)).body;
    keys.push(api_key);
    const client = service.client.with({ 'x-api-key': api_key });
    const events = await Promise.all(Array.from({ length: 20 }, () => client.create(newEvent())));
    return { key: api_key as string, id: events[0].agent_id as string, events };
  };
  for (let count = 0; count < 3; count++)
    eventIds.push(...(await register()).events.map(({ event_id }) => event_id));
  const [writer, reader] = [await register(), await register()];
  await service.client.with({ authorization }).patch(`/v1/admin/agents/${reader.id}`, { tier: 'read' });
  for (let count = 0; count < 20; count++) agentIds.push((await register()).id);
  const never = newApiKey(systemRandom);
  return {
    keys: [...keys, never],
    agentIds,
    eventIds: [...eventIds, ...writer.events.map(({ event_id }) => event_id as string)],
    credentials: [
      {},
      { 'X-API-Key': writer.key },
      { 'X-API-Key': writer.key, Authorization: authorization },
      { 'X-API-Key': writer.key, Authorization: authorization },
      { 'X-API-Key': writer.key, Authorization: authorization },
      { 'X-API-Key': keys[0]!, Authorization: authorization },
      { 'X-API-Key': reader.key },
      { 'X-API-Key': never, Authorization: `Bearer ${writer.key}` },
    ],
  };
}

/** The path as the router reads it: of an absolute URL too, decoded, without query and fragment. */
function plainPath(target: string): string {
  const path = target.replace(/^https?:\/\/[^/]*/, '').split(/[?#]/, 1)[0]!;
  try {
    return path === '*' ? '/' : decodeURI(path);
  } catch {
    return path;
  }
}

function inspect({ method, target, headers, body }: FuzzRequest): string {
  const shown =
    body && (body.length > 500 ? `${body.subarray(0, 500).toString('latin1')}…` : body.toString('latin1'));
  return JSON.stringify({ method, target: target.slice(0, 500), headers, body: shown });
}
