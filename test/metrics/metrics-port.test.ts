// The port of the metrics: off by default, nothing else on it, and few requests.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { all, parseMetrics } from '../support/metrics.ts';
import { freePort } from '../support/process.ts';
import { startTestService } from '../support/service.ts';

it('serves the metrics and nothing else, and refuses a flood', async (t) => {
  const port = String(await freePort());
  const service = await startTestService({ METRICS_PORT: port }, { until: t });
  const url = `http://127.0.0.1:${port}/metrics`;
  const found = await fetch(url);
  assert.equal(found.status, 200);
  assert.equal(found.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  assert.ok(parseMetrics(await found.text()).size > 100);
  for (const path of ['/', '/v1/events', '/metrics/x', '/health'])
    assert.equal((await fetch(new URL(path, url))).status, 404, path);
  assert.equal((await fetch(url, { method: 'POST' })).status, 404);
  assert.equal((await service.client.get('/metrics')).status, 404, 'not on the port of the API');
  const statuses = await all(200, () =>
    fetch(url).then(
      ({ status }) => status,
      () => 429, // more connections than there may be
    ),
  );
  assert.ok(statuses.includes(200) && statuses.includes(429), String(new Set(statuses)));
  await assert.rejects(startTestService({ METRICS_PORT: port }), {
    name: 'StartError',
    message: `Port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or set METRICS_PORT to another port.`,
  });
});

it('ends with the service', async () => {
  const port = String(await freePort());
  const service = await startTestService({ METRICS_PORT: port });
  await service.close();
  await assert.rejects(fetch(`http://127.0.0.1:${port}/metrics`));
});
