// `admin-token`: an operator creates a token; only the token is printed, so that it can be captured.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { decodeJwt } from 'jose';
import { type Answer, Client } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { type Ended, launchCommand, launchService, type RunningProcess, run } from '../support/process.ts';
import { startTestService, temporaryFolder, useTestService } from '../support/service.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EMAIL = ['--email', 'ada@example.com'];

/** Asserts that the token, and nothing else, was printed. */
function tokenOf({ code, stdout, stderr }: Ended): string {
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^Token for the service with its data in .*:\n$/);
  assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  return stdout.trimEnd();
}

function me(url: string, token: string): Promise<Answer> {
  return new Client(url, { authorization: `Bearer ${token}` }).get('/v1/admin/me');
}

async function stop(service: RunningProcess): Promise<void> {
  service.child.kill('SIGTERM');
  await service.ended;
}

describe('admin-token', () => {
  it('works before a first start, while the service runs, and while it does not', async () => {
    const folder = join(temporaryFolder(), 'data');
    const env = { DATA_DIR: folder };
    const early = tokenOf(await run(['admin-token', ...EMAIL], env));
    const first = await launchService(env);
    const during = tokenOf(await run(['admin-token', ...EMAIL], env));
    assert.equal((await me(first.url, early)).status, 200);
    assert.equal((await me(first.url, during)).status, 200);
    await stop(first);
    const between = tokenOf(await run(['admin-token', ...EMAIL], env));
    const second = await startTestService(env);
    for (const token of [early, during, between]) assert.equal((await me(second.url, token)).status, 200);
    await second.close();
  });

  it('never creates two signing keys if run several times at once before a first start', async () => {
    const env = { DATA_DIR: temporaryFolder() };
    const ended = await Promise.all([1, 2].map(() => run(['admin-token', ...EMAIL], env)));
    const printed = ended.filter(({ code }) => code === 0);
    assert.ok(printed.length > 0);
    for (const { code, stdout, stderr } of ended) {
      if (code === 0) continue;
      assert.equal(stdout, '');
      assert.match(stderr, /^The data folder .* is in use by another .*\n$/);
    }
    const service = await startTestService(env);
    for (const one of printed) assert.equal((await me(service.url, tokenOf(one))).status, 200);
    await service.close();
  });

  describe('with a running service', () => {
    const folder = temporaryFolder();
    const service = useTestService({ DATA_DIR: folder });
    const mint = (...args: string[]) => runHere(['admin-token', ...args], { DATA_DIR: folder });

    it('names the holder and is valid as long as requested, at most a day', async () => {
      const token = tokenOf(await mint(...EMAIL, '--name', 'Ada Lovelace', '--hours', '24'));
      const { body } = await me(service.url, token);
      assert.deepEqual(body, { email: 'ada@example.com', name: 'Ada Lovelace', picture: '' });
      const { iat, exp } = decodeJwt(token);
      assert.equal(exp! - iat!, 86_400);
    });

    it('is valid for an hour by default', async () => {
      const { iat, exp } = decodeJwt(tokenOf(await mint(...EMAIL)));
      assert.equal(exp! - iat!, 3_600);
    });

    it('prints only the token through npm too', async () => {
      const npm = launchCommand('npm', ['run', '-s', 'cli', '--', 'admin-token', ...EMAIL], {
        cwd: ROOT,
        env: { DATA_DIR: folder },
      });
      assert.equal((await me(service.url, tokenOf(await npm.ended))).status, 200);
    });
  });

  it('fails if an identity provider is configured', async () => {
    const folder = join(temporaryFolder(), 'data');
    const { code, stdout, stderr } = await runHere(['admin-token', ...EMAIL], {
      DATA_DIR: folder,
      OIDC_ISSUER: 'https://accounts.example.com',
      OIDC_CLIENT_ID: 'client',
    });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^OIDC_ISSUER is set.*accounts\.example\.com.*\n$/);
    assert.ok(!existsSync(folder), 'nothing was made');
  });

  it('says in one line that the store cannot be opened', async () => {
    const { code, stdout, stderr } = await runHere(['admin-token', ...EMAIL], {
      DATA_DIR: join(process.execPath, 'below-a-file'),
    });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^The data folder .*\n$/);
  });
});
