// `serve` as an operator sees it: its announcement, its log, and how `npm run dev` follows changes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertError, Client } from '../support/client.ts';
import { freePort, launchCommand, launchService, untilPrinted } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

describe('serve', () => {
  it('announces URL, docs, engine and data folder, once', async () => {
    const folder = temporaryFolder();
    const service = await launchService({ DATA_DIR: folder });
    await untilPrinted(service, ({ stderr }) => stderr.includes(folder));
    service.child.kill('SIGTERM');
    const { code, stdout, stderr } = await service.ended;
    assert.equal(code, 0);
    const printed = stdout + stderr;
    assert.equal(countOf(printed, `url      ${service.url}\n`), 1, printed);
    assert.equal(countOf(printed, `docs     ${service.url}/docs\n`), 1, printed);
    assert.equal(countOf(printed, 'engine   sqlite\n'), 1, printed);
    assert.equal(countOf(printed, `data     ${folder}\n`), 1, printed);
  });

  it('announces the public URL if there is one', async () => {
    const service = await launchService({
      DATA_DIR: temporaryFolder(),
      PUBLIC_URL: 'https://events.example.com/',
    });
    await untilPrinted(service, ({ stderr }) => stderr.includes('data '));
    service.child.kill('SIGTERM');
    const { stderr } = await service.ended;
    assert.match(stderr, /url {6}https:\/\/events\.example\.com\n/);
    assert.match(stderr, /docs {5}https:\/\/events\.example\.com\/docs\n/);
  });

  it('writes only structured lines to standard output', async () => {
    const service = await launchService({ DATA_DIR: temporaryFolder() });
    await fetch(`${service.url}/v1/events/nearby?lat=1&lng=2`);
    service.child.kill('SIGTERM');
    const { stdout } = await service.ended;
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { route?: string });
    assert.ok(lines.some(({ route }) => route === '/v1/events/nearby'));
  });

  it('warns if a provider is configured and nobody is an administrator', async () => {
    const service = await launchService({
      DATA_DIR: temporaryFolder(),
      OIDC_ISSUER: 'https://accounts.example.com',
      OIDC_CLIENT_ID: 'client',
    });
    await untilPrinted(service, ({ stdout }) => /ADMIN_EMAILS.*ADMIN_SUBJECTS/.test(stdout));
    service.child.kill('SIGTERM');
    assert.equal((await service.ended).code, 0);
  });
});

describe('serve, stopped while it waits for a silent identity provider', () => {
  it('responds to the waiting client and ends cleanly', { timeout: 30_000 }, async (test) => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    test.after(() => {
      silent.close();
      silent.closeAllConnections();
    });
    const service = await launchService({
      DATA_DIR: temporaryFolder(),
      OIDC_ISSUER: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      OIDC_CLIENT_ID: 'client',
    });
    const asked = once(silent, 'request');
    const header = Buffer.from('{"alg":"RS256","kid":"one"}').toString('base64url');
    const waiting = new Client(service.url, { authorization: `Bearer ${header}.e30.AAAA` }).get(
      '/v1/admin/me',
    );
    await asked;
    service.child.kill('SIGTERM');
    assertError(await waiting, 503, 'UNAVAILABLE');
    const { code, signal } = await service.ended;
    assert.deepEqual({ code, signal }, { code: 0, signal: null });
  });
});

describe('npm run dev', () => {
  it('restarts, with the change, when a source file changes', { timeout: 60_000 }, async (test) => {
    // A copy outside the test's temporary folders: it is removed once the processes in it have ended.
    const copy = mkdtempSync(join(tmpdir(), 'local-events-dev-'));
    for (const part of ['src', 'bin', 'scripts', 'web', 'package.json']) {
      cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const dev = launchCommand('npm', ['run', 'dev'], {
      cwd: copy,
      env: { PORT: String(await freePort()), DATA_DIR: join(copy, 'data') },
      detached: true,
    });
    test.after(async () => {
      process.kill(-dev.child.pid!, 'SIGTERM');
      await dev.ended;
      rmSync(copy, { recursive: true, force: true });
    });
    await untilPrinted(dev, ({ stderr }) => stderr.includes('is ready\n'));
    const file = join(copy, 'src', 'cli', 'serve.ts');
    const source = readFileSync(file, 'utf8');
    assert.equal(countOf(source, 'is ready`'), 1);
    writeFileSync(file, source.replace('is ready`', 'is ready again`'));
    await untilPrinted(dev, ({ stderr }) => stderr.includes('is ready again\n'));
  });
});
