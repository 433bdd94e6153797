// Log lines that are dropped are counted.
import assert from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import { it } from 'node:test';
import { all, launchMeasured } from '../support/metrics.ts';
import { RawConnection, request } from '../support/raw-http.ts';
import { temporaryFolder } from '../support/service.ts';

it('log lines that were dropped because nobody reads the log', { timeout: 60_000 }, async (t) => {
  const folder = temporaryFolder();
  const service = await launchMeasured(t, { DATA_DIR: folder });
  service.child.stdout!.pause(); // a reader that stalls
  renameSync(folder, `${folder}-gone`);
  t.after(() => rmSync(`${folder}-gone`, { recursive: true }));
  const dropped = 'local_events_log_lines_dropped_total';
  assert.equal(await service.value(dropped), 0);
  // A health check that fails has a line with its cause and a stack: 10,000 have more than the 16 MiB that are kept.
  const untilMs = performance.now() + 45_000;
  while ((await service.value(dropped)) === 0) {
    assert.ok(performance.now() < untilMs);
    await all(20, async () => {
      const connection = await RawConnection.open(service.client.url);
      connection.write(request('GET', '/health').repeat(100));
      for (let count = 0; count < 100; count++) await connection.next();
      connection.destroy();
    });
  }
});
