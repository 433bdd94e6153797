// What the suite prints if it is started without its variables.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ADMIN_TOKEN, BASE_URL, READ_KEY } from './settings.ts';

const CLIENT = fileURLToPath(new URL('./client.ts', import.meta.url));

function importClient(env: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLIENT], { env }, (error, _stdout, stderr) => {
      assert.ok(error, 'the suite started');
      resolve(stderr);
    });
  });
}

describe('the suite', () => {
  const hints: Record<string, RegExp> = {
    BASE_URL: /needs the variable BASE_URL: the address of the service, such as http/,
    ADMIN_TOKEN: /needs the variable ADMIN_TOKEN: .*npm run cli -- admin-token/,
    READ_KEY: /needs the variable READ_KEY: .*PATCH \/v1\/admin\/agents/,
  };
  for (const [name, hint] of Object.entries(hints)) {
    it(`says how to get ${name} when it is missing`, async () => {
      const { [name]: _left, ...env } = { BASE_URL, ADMIN_TOKEN, READ_KEY } as Record<string, string>;
      assert.match(await importClient(env), hint);
    });
  }

  it('says that nothing responds at BASE_URL', async () => {
    const env = { BASE_URL: 'http://127.0.0.1:1', ADMIN_TOKEN, READ_KEY };
    assert.match(await importClient(env), /Nothing answers at BASE_URL http:\/\/127\.0\.0\.1:1/);
  });
});
