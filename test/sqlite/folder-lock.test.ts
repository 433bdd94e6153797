// The lock of the data folder passes from process to process and is never held by two, however a process ends.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Client } from '../support/client.ts';
import { launchService, run } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

describe('a data folder', () => {
  it('refuses a second process, even after the first was killed and replaced', async () => {
    const folder = temporaryFolder();
    const assertRefused = async () => {
      const { code, stderr } = await run(['serve'], { PORT: '0', DATA_DIR: folder });
      assert.equal(code, 1);
      assert.ok(stderr.includes(folder) && /in use by another local-events process/.test(stderr), stderr);
    };
    const first = await launchService({ DATA_DIR: folder });
    const registration = { email: 'agent@example.com', agent_name: 'agent' };
    const { api_key } = (await new Client(first.url).post('/v1/auth/register', registration)).body;
    const key = { 'x-api-key': api_key };
    const event = await new Client(first.url, key).create();
    await assertRefused();
    first.child.kill('SIGKILL');
    await first.ended;

    const second = await launchService({ DATA_DIR: folder });
    await assertRefused();
    const answer = await new Client(second.url, key).get(`/v1/events/${event.event_id}`);
    assert.deepEqual([answer.status, answer.body], [200, event]);
    second.child.kill('SIGTERM');
    assert.equal((await second.ended).code, 0);
  });
});
