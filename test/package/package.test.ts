// What the npm package contains, and that it runs below node_modules, where Node strips no types. Its dependencies are those of
// this clone: install.test.ts installs them, too.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { connectBy } from '../docs/mcp-setup.ts';
import { ROOT } from '../docs/readme.ts';
import { Client } from '../support/client.ts';
import { launchCommand, untilPrinted } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { filesOf, packPackage } from './package.ts';

describe('the npm package', { timeout: 120_000 }, () => {
  const folder = temporaryFolder();
  const installed = join(folder, 'node_modules/local-events');
  const bin = join(installed, 'bin/local-events.mjs');
  let tarball: string;
  let files: string[];

  before(() => {
    tarball = packPackage();
    files = filesOf(tarball);
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
    for (const name of readdirSync(join(ROOT, 'node_modules')).filter((each) => !each.startsWith('.')))
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  });

  it('has the program, the console, the documents and the files for operators, and nothing else', () => {
    const folders = new Set(files.map((file) => file.replace(/\/.*/s, '')));
    const expected = 'CHANGELOG.md LICENSE README.md SECURITY.md bin deploy docs lib package.json web';
    assert.deepEqual([...folders].sort(), expected.split(' ').sort());
    const other = files.filter((file) => /\.(?:tsx?|tgz)$|test|node_modules|^web\/(?!dist\/)/.test(file));
    assert.deepEqual(other, []);
    assert.ok(files.includes('web/dist/index.html'));
    assert.ok(files.length < 450, String(files.length));
  });

  it('has the version of the clone, also in its name', () => {
    const versionIn = (file: string) => JSON.parse(readFileSync(file, 'utf8')).version;
    const version = versionIn(join(ROOT, 'package.json'));
    assert.equal(versionIn(join(installed, 'package.json')), version);
    assert.equal(basename(tarball), `local-events-${version}.tgz`);
  });

  it('asks for the Node that it needs, and leaves that of the clone as it was', () => {
    const engines = (file: string) => JSON.parse(readFileSync(file, 'utf8')).engines;
    assert.deepEqual(engines(join(installed, 'package.json')), { node: '>=26' });
    assert.deepEqual(engines(join(ROOT, 'package.json')), { node: '>=20' });
    assert.ok(!existsSync(join(ROOT, 'package.json.new')));
  });

  it('has every source as JavaScript, and every migration', () => {
    const sources = globSync('**/*.*', { cwd: join(ROOT, 'src') });
    assert.ok(sources.some((file) => file.endsWith('.sql')));
    const missing = sources.filter((file) => !files.includes(`lib/${file.replace(/\.ts$/, '.js')}`));
    assert.deepEqual(missing, []);
  });

  it('serves, with console, interactive documentation and names of places, and copies its data', async (t) => {
    const env = { PORT: '0', DATA_DIR: join(folder, 'data') };
    const service = launchCommand(process.execPath, [bin, 'serve'], { env, cwd: folder });
    t.after(() => service.child.kill('SIGKILL'));
    await untilPrinted(service, ({ stderr }) => /^ {2}data /m.test(stderr));
    const [, url] = /^ {2}url {6}(\S+)$/m.exec(service.output().stderr)!;
    for (const path of ['/admin', '/docs', '/openapi.json', '/llms.txt']) {
      const response = await fetch(url + path);
      assert.equal(response.status, 200, path);
      assert.doesNotMatch(await response.text(), /is not built/, path);
    }
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    assert.equal((await new Client(url!).get('/health')).body.version, version);
    const agent = await new Client(url!).register();
    await agent.create();
    const key = agent.headers['x-api-key']!;
    const { places } = (await agent.get('/v1/places', { q: 'Wien', limit: 1 })).body;
    assert.equal(places[0].name, 'Vienna');

    const bridge = { LOCAL_EVENTS_API_KEY: key };
    const client = await connectBy({
      command: process.execPath,
      args: [bin, 'mcp', '--url', url!],
      env: bridge,
    });
    assert.equal((await client.get('list_my_events')).total, 1);
    await client.close();

    const backup = join(folder, 'backup.db');
    const copied = await launchCommand(process.execPath, [bin, 'backup', backup], { env }).ended;
    assert.equal(copied.code, 0, copied.stderr);
    assert.ok(existsSync(backup));

    service.child.kill('SIGTERM');
    assert.equal((await service.ended).code, 0);
  });
});
