// Refusals are counted by the limit or quota that refused.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newEvent } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { launchMeasured, refusals, sendUnfinished } from '../support/metrics.ts';
import { RawConnection, request } from '../support/raw-http.ts';
import { size } from '../support/sizes.ts';

const quotaRefusals = (quota: string) => `local_events_quota_refusals_total{quota="${quota}"}`;

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  it(`refusals by cause and quota, on ${engine}`, { timeout: 60_000 }, async (t) => {
    const service = await launchMeasured(t, {
      ...(await ENGINES[engine]()),
      RATE_LIMIT_READWRITE: '40',
      REGISTRATIONS_PER_HOUR: '3',
      FAILED_REGISTRATIONS_PER_HOUR: '2',
      PUBLIC_READ: 'on',
      PUBLIC_READS_PER_HOUR: '1',
      MAX_MB_PER_NETWORK_AND_HOUR: '1',
      MAX_REQUESTS_PER_AGENT: '2',
      MAX_REQUESTS_PER_NETWORK: '10',
      MAX_CONNECTIONS_PER_NETWORK: '12',
    });
    const { client, value, until } = service;
    const [agent, writer] = [await client.register(), await client.register()];
    assert.equal(await value(refusals('requests_per_agent')), 0);
    const held = [await sendUnfinished(t, agent), await sendUnfinished(t, agent)];
    await until('http_server_active_requests', (now) => now >= 2);
    // A request counts for its agent once its key was checked.
    while ((await agent.nearby()).status !== 429) await sleep(20);
    assert.equal(await value(refusals('requests_per_agent')), 1);
    for (const connection of held) connection.destroy();
    await until('http_server_active_requests', (now) => now === 0);

    const open: RawConnection[] = [];
    for (let status = 0; status !== 429; ) {
      const connection = await RawConnection.open(client.url);
      open.push(connection);
      connection.write(request('GET', '/nothing'));
      status = (await connection.next())!.status;
    }
    assert.equal(await value(refusals('connections_per_network')), 1);
    for (const connection of open) connection.destroy();
    await until('http_server_connections{state="idle"}', (now) => now < 8);

    const pipelined = await RawConnection.open(client.url);
    pipelined.write(request('GET', '/nothing').repeat(300));
    await pipelined.closed;
    await until(refusals('requests_per_network'), (count) => count > 0);
    await until(refusals('requests_per_connection'), (count) => count > 0);
    await until('http_server_active_requests', (now) => now === 0);

    for (let time = 0; time < 45; time++) await agent.nearby();
    assert.ok((await value(quotaRefusals('requests'))) >= 5);
    // 41 KB each; the network may store 1 MB.
    for (let time = 0; time < 30; time++)
      await writer.post('/v1/events', newEvent({ description: '😀'.repeat(10_000) }));
    assert.ok((await value(quotaRefusals('stored_bytes'))) > 0);

    await client.register();
    assert.equal((await client.post('/v1/auth/register', { email: 'a@b.c', agent_name: 'x' })).status, 429);
    assert.equal(await value(quotaRefusals('registrations')), 1);
    const other = await RawConnection.open(client.url, '127.0.0.2');
    t.after(() => other.destroy());
    for (const status of [422, 422, 429]) {
      other.write(request('POST', '/v1/auth/register', { 'Content-Type': 'application/json' }, '{}'));
      assert.equal((await other.next())?.status, status);
    }
    assert.equal(await value(quotaRefusals('failed_registrations')), 1);
    for (const status of [200, 429]) assert.equal((await client.nearby()).status, status);
    assert.equal(await value(quotaRefusals('public_reads')), 1);
  });
}
