// A node of several that is asked to stop: it goes on serving for a moment, keeps no connection, turns away what a load balancer
// sends elsewhere, and exits. test/nodes/restart.test.ts restarts nodes behind nginx.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Client, newEvent } from '../support/client.ts';
import { newDatabase } from '../support/postgres.ts';
import { launchService, untilPrinted } from '../support/process.ts';
import { RawConnection, request } from '../support/raw-http.ts';

it('serves on after SIGTERM without keeping connections, then turns reads away, then closes its port', {
  timeout: 60_000,
}, async (t) => {
  const service = await launchService({ DATABASE_URL: await newDatabase() });
  t.after(() => service.child.kill('SIGKILL'));
  const agent = await new Client(service.url).register();
  const key = { 'X-API-Key': agent.headers['x-api-key']! };
  const kept = await RawConnection.open(service.url);
  kept.write(request('GET', '/v1/agents/me', key));
  assert.equal((await kept.next())?.status, 200);

  service.child.kill('SIGTERM');
  await untilPrinted(service, ({ stdout }) => stdout.includes('"stopping"'));
  kept.write(request('GET', '/v1/agents/me', key));
  const answer = await kept.next();
  assert.deepEqual([answer?.status, answer?.headers.get('connection')], [200, 'close']);
  await kept.closed;

  // Reads that the load balancer sends elsewhere, until one is turned away. Writes are served all the time.
  const nextUpstream = { ...key, 'X-Next-Upstream': 'yes' };
  let reads = 0;
  for (;;) {
    const reading = await RawConnection.open(service.url);
    reading.write(request('GET', '/v1/agents/me', nextUpstream));
    const read = await reading.next();
    if (!read) break;
    assert.equal(read.status, 200);
    reads++;
  }
  assert.ok(reads > 0);
  const writing = await RawConnection.open(service.url);
  const headers = { ...nextUpstream, 'Content-Type': 'application/json' };
  writing.write(request('POST', '/v1/events', headers, JSON.stringify(newEvent())));
  assert.equal((await writing.next('POST'))?.status, 200);
  const direct = await RawConnection.open(service.url);
  direct.write(request('GET', '/v1/agents/me', key));
  assert.equal((await direct.next())?.status, 200);

  const { code, stdout } = await service.ended;
  assert.equal(code, 0);
  assert.match(stdout, /"msg":"stopped"/);
  assert.doesNotMatch(stdout, /"status":499/);
  await assert.rejects(RawConnection.open(service.url), { code: 'ECONNREFUSED' });
});
