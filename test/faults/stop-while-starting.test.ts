// A signal while the service waits for its database. As process 1 of a container, a process without a handler ignores it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { it } from 'node:test';
import { launch } from '../support/process.ts';

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  it(`ends at ${signal}, although its database does not respond`, { timeout: 30_000 }, async (t) => {
    const silent = createServer().listen(0, '127.0.0.1');
    t.after(() => silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const { child, ended } = launch(['serve'], {
      PORT: '0',
      DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none`,
    });
    const [socket] = await once(silent, 'connection');
    t.after(() => socket.destroy());
    child.kill(signal);
    const { code, stdout } = await ended;
    assert.equal(code, 0);
    assert.match(stdout, /"msg":"stopping"/);
  });
}
