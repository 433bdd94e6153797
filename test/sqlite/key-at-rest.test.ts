// Keys are never written to disk: the files of a service hold only their hashes and prefixes.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startTestService } from '../support/service.ts';

describe('the files of a service', () => {
  it('hold the prefix of a registered or rotated key, but not the key', async () => {
    const service = await startTestService();
    const register = () =>
      service.client.post('/v1/auth/register', { email: 'agent@example.com', agent_name: 'a' });
    const first = (await register()).body;
    const agent = service.client.with({ 'x-api-key': first.api_key });
    await agent.create();
    const second = (await agent.post('/v1/auth/rotate')).body;
    const read = () =>
      Buffer.concat(readdirSync(service.folder).map((file) => readFileSync(join(service.folder, file))));
    const files = [read()];
    await service.close();
    files.push(read());
    for (const bytes of files) {
      for (const { api_key, key_prefix } of [first, second]) {
        assert.ok(bytes.includes(key_prefix), 'the prefix is not there: the files were not read');
        assert.ok(!bytes.includes(api_key));
        assert.ok(!bytes.includes(api_key.slice(8)));
      }
    }
  });
});
