// Every metric of a running service moves by what it names.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import { getSigningKey } from '../../src/engines.ts';
import { mintToken } from '../../src/oidc/local-issuer.ts';
import { VERSION } from '../../src/system.ts';
import { type Client, newEvent } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import {
  all,
  launchMeasured,
  MAX_OTHER_SERIES,
  type MeasuredService,
  parseMetrics,
  refusals,
  sendUnfinished,
} from '../support/metrics.ts';
import { newDatabase } from '../support/postgres.ts';
import { RawConnection } from '../support/raw-http.ts';
import { temporaryFolder } from '../support/service.ts';

const BREAK_THREADS = fileURLToPath(new URL('../faults/break-threads.mjs', import.meta.url));

/** Tight limits, so that few requests reach them. */
const POOL = { DATABASE_POOL_SIZE: '2' };

const waits = (queue: string) => `local_events_queue_wait_seconds_count{queue="${queue}"}`;
const waiting = (queue: string) => `local_events_queue_length{queue="${queue}"}`;
const requests = (method: string, route: string, status: number) =>
  `http_server_requests_total{http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"}`;
const lookups = (cache: string, result: string) =>
  `local_events_cache_requests_total{cache="${cache}",result="${result}"}`;

async function administratorOf(client: Client, env: Record<string, string>): Promise<Client> {
  const key = await getSigningKey(readConfig(env));
  const token = await mintToken(key, { email: 'admin@example.com', name: 'Ada', hours: 1 }, Date.now());
  return client.with({ authorization: `Bearer ${token}` });
}

/** Every metric has a type and a help text, histograms add up, and there are few series. */
function checkForm(text: string): void {
  const values = parseMetrics(text);
  const others = [...values.keys()].filter((series) => !series.startsWith('http_server_request'));
  assert.ok(others.length <= MAX_OTHER_SERIES, `${others.length} series`);
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
  assert.equal([...text.matchAll(/^# HELP /gm)].length, types.size);
  for (const [series, value] of values) {
    const name = /^\w+/.exec(series)![0];
    const family = types.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '');
    assert.ok(types.has(family), name);
    assert.equal(types.get(family) === 'counter', name.endsWith('_total'), name);
    if (!series.includes('le="+Inf"')) continue;
    const count = series
      .replace('_bucket{', '_count{')
      .replace(/,?le="\+Inf"/, '')
      .replace('{}', '');
    assert.equal(values.get(count), value, count);
  }
}

/** Sends `send` until the queue has had something that waited. The service is stopped meanwhile, so that it reads all at once. */
async function untilWaited({ child, value }: MeasuredService, queue: string, send: () => Promise<unknown>) {
  const before = await value(waits(queue));
  for (let time = 0; time < 20; time++) {
    child.kill('SIGSTOP');
    const answered = send();
    await sleep(100);
    child.kill('SIGCONT');
    await answered;
    if ((await value(waits(queue))) > before) return;
  }
  assert.fail(`nothing waited in the queue ${queue}`);
}

/** The metrics that do not depend on the engine. */
async function checkRequests(t: TestContext, service: MeasuredService, env: Record<string, string>) {
  const { client, value, until } = service;
  const agent = await client.register();
  const event = await agent.create();

  const route = '/v1/events/:event_id';
  await all(3, () => agent.get(`/v1/events/${event.event_id}`));
  await agent.get('/v1/events/unknown');
  await client.get('/v1/events/unknown');
  await client.get('/nothing/here');
  await client.send('PROPFIND', '/nothing/here');
  await until(requests('GET', route, 200), (count) => count === 3);
  await until(requests('GET', route, 404), (count) => count === 1);
  await until(requests('GET', route, 401), (count) => count === 1);
  await until(requests('GET', '', 404), (count) => count === 1);
  await until(requests('_OTHER', '', 404), (count) => count === 1);
  const duration = (part: string, labels: string) =>
    `http_server_request_duration_seconds_${part}{${labels}}`;
  const reads = 'route_group="read",status_class="2xx"';
  assert.equal(await value(duration('count', reads)), 3);
  assert.equal(await value(duration('bucket', `${reads},le="10"`)), 3);
  const sum = await value(duration('sum', reads));
  assert.ok(sum > 0 && sum < 30, String(sum));
  assert.equal(await value(duration('count', 'route_group="write",status_class="2xx"')), 2);

  const connections = (state: string) => `http_server_connections{state="${state}"}`;
  const [active, idle] = [await value('http_server_active_requests'), await value(connections('idle'))];
  const held = [await sendUnfinished(t, agent), await sendUnfinished(t, agent)];
  const quiet = await RawConnection.open(client.url);
  await until('http_server_active_requests', (now) => now >= active + 2);
  await until(connections('active'), (now) => now >= 2);
  await until(connections('idle'), (now) => now >= idle + 1);
  for (const connection of [...held, quiet]) connection.destroy();
  await until('http_server_active_requests', (now) => now === 0);
  await until(connections('active'), (now) => now === 0);

  const fast = 'nodejs_eventloop_delay_seconds_bucket{le="0.25"}';
  const delays = async () => (await value('nodejs_eventloop_delay_seconds_count')) - (await value(fast));
  const slowBefore = await delays();
  service.child.kill('SIGSTOP');
  await sleep(800);
  service.child.kill('SIGCONT');
  const untilMs = performance.now() + 10_000;
  while ((await delays()) <= slowBefore) assert.ok(performance.now() < untilMs);

  const resident = /^VmRSS:\s+(\d+) kB$/m;
  const kilobytes = Number(resident.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))![1]);
  const rss = await value('process_resident_memory_bytes');
  assert.ok(Math.abs(rss / 1_024 / kilobytes - 1) < 0.3, `${rss} bytes, ${kilobytes} kB`);
  const heap = await value('nodejs_heap_size_used_bytes');
  assert.ok(heap > 0 && heap <= (await value('nodejs_heap_size_total_bytes')));
  assert.ok((await value('nodejs_external_memory_bytes')) > 0);

  await untilWaited(service, 'turns', () => all(100, () => client.get('/nothing')));
  await untilWaited(service, 'agent_work', () => all(30, () => agent.get('/v1/agents/me/events')));
  await untilWaited(service, 'agent_work', () => all(30, () => agent.get('/v1/places?q=sa%20%20')));
  await untilWaited(service, 'prefix_searches', () => all(30, () => agent.nearby({ q: 'ev*' })));
  const administrator = await administratorOf(client, env);
  await untilWaited(service, 'admin_work', () =>
    all(30, () => administrator.get('/v1/admin/agents?limit=10')),
  );
  return agent;
}

it('the embedded engine', { timeout: 120_000 }, async (t) => {
  const env = { ...(await ENGINES.sqlite()), CACHE_MB: '1' };
  const stall = join(temporaryFolder(), 'stall');
  const service = await launchMeasured(t, { ...env, STALL_FILE: stall }, ['--import', BREAK_THREADS]);
  const { value, until } = service;
  const agent = await checkRequests(t, service, env);

  const [size, duration] = ['local_events_commit_batch_size', 'local_events_commit_duration_seconds'];
  const walBytes = await value('local_events_wal_bytes');
  await until('local_events_words_ready', (areReady) => areReady === 1);
  assert.match(
    await service.text(),
    /^local_events_build_info\{version="\d+\.\d+\.\d+",engine="sqlite",node="\d+\.\d+\.\d+"\} 1$/m,
  );
  const free = statfsSync((env as Record<string, string>).DATA_DIR!);
  await until('local_events_disk_free_bytes', (now) => now > 0 && now <= free.blocks * free.bsize);
  const databaseBytes = await value('local_events_database_bytes');
  const [writes, commits] = [await value(`${size}_sum`), await value(`${size}_count`)];
  // Three places, of which only one at a time fits into the cache.
  const lats = [10, 20, 30];
  const description = 'x'.repeat(9_000);
  await all(180, (at) => agent.create({ description, lat: lats[at % 3] }));
  assert.ok((await value(`${size}_sum`)) >= writes + 180);
  const newCommits = (await value(`${size}_count`)) - commits;
  assert.ok(newCommits >= 1 && newCommits < 180, `${newCommits} commits`);
  assert.equal(await value(`${duration}_count`), await value(`${size}_count`));
  assert.ok((await value(waits('writer'))) > 0);
  await until('local_events_wal_bytes', (now) => now > walBytes);
  await until('local_events_database_bytes', (now) => now > 0 && now >= databaseBytes);
  assert.equal(await value('local_events_index_events'), 181);

  const search = (lat: number) => agent.nearby({ lat, lng: 13.405, radius: 1, limit: 100 });
  await search(30);
  const hits = await value(lookups('events', 'hit'));
  await search(30);
  assert.ok((await value(lookups('events', 'hit'))) >= hits + 60);
  await untilWaited(service, 'reader', () => all(30, (at) => search(lats[at % 3]!)));
  assert.ok((await value(lookups('events', 'miss'))) > 0);

  writeFileSync(stall, '');
  const stuck = all(4, () => agent.create());
  await until(waiting('writer'), (length) => length === 3);
  rmSync(stall);
  await stuck;
  await until(waiting('writer'), (length) => length === 0);
  checkForm(await service.text());
});

it('PostgreSQL', { timeout: 120_000 }, async (t) => {
  const env = { DATABASE_URL: await newDatabase() };
  const service = await launchMeasured(t, { ...env, ...POOL });
  const { value, until } = service;
  const agent = await checkRequests(t, service, env);

  const hits = await value(lookups('keys', 'hit'));
  while ((await value(lookups('keys', 'hit'))) === hits) await agent.nearby();
  const misses = await value(lookups('keys', 'miss'));
  await sleep(600); // a key is trusted for half a second
  await agent.nearby();
  assert.ok((await value(lookups('keys', 'miss'))) > misses);

  await until('local_events_searches_from_memory', (isFromMemory) => isFromMemory === 1);
  await until('local_events_words_ready', (areReady) => areReady === 1);
  await until('local_events_database_bytes', (bytes) => bytes > 1e6);
  assert.equal(
    await value(
      `local_events_build_info{version="${VERSION}",engine="postgres",node="${process.versions.node}"}`,
    ),
    1,
  );
  const { event_id } = await agent.create();
  await agent.nearby();
  assert.ok((await value('local_events_index_events')) > 0);
  await untilWaited(service, 'connections', () => all(20, () => agent.get(`/v1/events/${event_id}`)));
  await untilWaited(service, 'write_connections', () => all(10, () => agent.create()));
  await untilWaited(service, 'creates', () => all(10, () => agent.create()));
  await untilWaited(service, 'database_work', () => all(40, () => agent.get(`/v1/events/${event_id}`)));
  await untilWaited(service, 'keys', () => all(60, () => agent.get(`/v1/events/${event_id}`)));

  const connections = (state: string) => `local_events_database_connections{state="${state}"}`;
  await until(connections('idle'), (count) => count > 0);
  const sql = postgres(env.DATABASE_URL, { max: 1, onnotice: () => {} });
  t.after(() => sql.end());
  let stuck: Promise<{ status: number }[]> | undefined;
  await sql.begin(async (locking) => {
    await locking`LOCK TABLE events IN SHARE MODE`;
    const refused = await value(refusals('database_connections'));
    stuck = all(6, () => agent.post('/v1/events', newEvent()));
    await until(connections('busy'), (count) => count > 0);
    await until(waiting('write_connections'), (length) => length > 0);
    await until(refusals('database_connections'), (count) => count > refused);
  });
  await stuck;
  await until(connections('busy'), (count) => count === 0);

  const changes = 'local_events_database_primary_changes_total';
  assert.equal(await value(changes), 0);
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'local-events' AND datname = current_database()`;
  await until(changes, (count) => count >= 1);
  assert.equal((await agent.nearby()).status, 200);
  checkForm(await service.text());
});
