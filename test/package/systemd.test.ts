// deploy/local-events.service, and what it and the container ask of the service: a root that is read-only, no capabilities.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ROOT } from '../docs/readme.ts';
import { BIN, launchCommand, untilPrinted } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

const UNIT = join(ROOT, 'deploy/local-events.service');
const unit = readFileSync(UNIT, 'utf8');
const settingsOf = (name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!);

describe('deploy/local-events.service', () => {
  it('is accepted by systemd, with little exposure', async (t) => {
    if (!existsSync('/usr/bin/systemd-analyze')) return t.diagnostic('systemd is not installed here.');
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', UNIT]);
    assert.equal(stdout + stderr, '');
    const options = ['security', '--offline=true', '--no-pager', UNIT];
    const report = await promisify(execFile)('systemd-analyze', options);
    const [, exposure] = /Overall exposure level for \S+: (\d+\.\d)/.exec(report.stdout)!;
    assert.ok(Number(exposure) < 2, `exposure ${exposure}`);
  });

  it('starts the program of the package that its first lines install', () => {
    const [, folder] = /^#.*npm install --ignore-scripts --prefix (\S+) /m.exec(unit)!;
    const [start] = settingsOf('ExecStart');
    assert.equal(start, `/usr/bin/env node ${folder}/node_modules/local-events/bin/local-events.mjs serve`);
    assert.ok(unit.includes(`cp ${folder}/node_modules/local-events/deploy/local-events.service `));
    assert.deepEqual(settingsOf('User'), ['local-events']);
    assert.match(unit, /^#.*useradd --system .* local-events$/m);
  });

  it('starts when the clock of the machine is right', () => {
    for (const name of ['Wants', 'After'])
      assert.ok(settingsOf(name)[0]!.split(' ').includes('time-sync.target'), name);
  });

  it('is not started again after a bad setting', async () => {
    const { code } = await launchCommand(process.execPath, [BIN, 'serve'], { env: { PORT: 'x' } }).ended;
    assert.deepEqual(settingsOf('RestartPreventExitStatus'), [String(code)]);
  });

  it('shares its user, its settings and its program with the commands in the documents', () => {
    const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
    const commands = [...page.matchAll(/^sudo systemd-run (?:.*\\\n)*.*$/gm)].map(([command]) => command);
    assert.equal(commands.length, 2);
    const program = settingsOf('ExecStart')[0]!.replace(
      /^\S+ node (\S+)\/local-events\/bin\/.*$/,
      '$1/.bin/',
    );
    for (const command of commands) {
      assert.ok(
        command.includes(`--uid=${settingsOf('User')[0]} --property=UMask=${settingsOf('UMask')[0]} `),
      );
      assert.ok(command.includes(` --property=EnvironmentFile=${settingsOf('EnvironmentFile')[0]} `));
      assert.ok(command.includes(` ${program}local-events `), program);
      assert.match(command, / (?:--setenv=|env )DATA_DIR=\//);
    }
  });

  it('keeps the data in its state folder, and gives the service time to stop', () => {
    assert.deepEqual(settingsOf('StateDirectory'), ['local-events']);
    assert.match(settingsOf('Environment')[0]!, /(?:^| )DATA_DIR=%S\/local-events(?: |$)/);
    const [, deadlineMs] = /EXIT_TIMEOUT_MS = ([\d_]+);/.exec(
      readFileSync(join(ROOT, 'src/cli/serve.ts'), 'utf8'),
    )!;
    assert.ok(Number(settingsOf('TimeoutStopSec')[0]) * 1_000 > 1.5 * Number(deadlineMs!.replace('_', '')));
  });
});

describe('deploy/local-events-backup.service and its timer', () => {
  const read = (name: string) => readFileSync(join(ROOT, 'deploy', name), 'utf8');
  const [backup, timer] = [read('local-events-backup.service'), read('local-events-backup.timer')];
  const settingIn = (text: string, name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1];

  it('are accepted by systemd, with little exposure', async (t) => {
    if (!existsSync('/usr/bin/systemd-analyze')) return t.diagnostic('systemd is not installed here.');
    const files = ['service', 'timer'].map((kind) => join(ROOT, `deploy/local-events-backup.${kind}`));
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', ...files]);
    assert.equal(stdout + stderr, '');
    const options = ['security', '--offline=true', '--no-pager', files[0]!];
    const report = await promisify(execFile)('systemd-analyze', options);
    assert.ok(Number(/Overall exposure level for \S+: (\d+\.\d)/.exec(report.stdout)![1]) < 2);
  });

  it('keep the newest of the backups that the service allows them to write', () => {
    for (const name of ['User', 'EnvironmentFile', 'Environment', 'UMask', 'StateDirectoryMode'])
      assert.equal(settingIn(backup, name), settingsOf(name)[0], name);
    const [, program, folder] = /^(.*) backup --keep 7 %S\/(\S+)$/.exec(settingIn(backup, 'ExecStart')!)!;
    assert.equal(`${program} serve`, settingsOf('ExecStart')[0]);
    assert.deepEqual(settingIn(backup, 'StateDirectory')!.split(' '), [
      settingsOf('StateDirectory')[0],
      folder,
    ]);
    assert.ok(settingIn(timer, 'OnCalendar'));
    assert.equal(settingIn(timer, 'Persistent'), 'true');
  });
});

/** Makes every file system read-only for a command, except for the folder $0. */
const READ_ONLY = `mount --make-rprivate / && mount --bind "$0" "$0" &&
  grep -o '^[^ ]* [^ ]*' /proc/mounts | cut -d' ' -f2 | grep -vxF "$0" | grep -v '^/\\(proc\\|sys\\|dev\\)' | sort -u |
  while read -r at; do mount -o remount,bind,ro "$at" || exit 1; done && exec "$@"`;

describe('a read-only root', { timeout: 60_000 }, () => {
  it('is enough for a service whose data folder is writable, without capabilities', async (t) => {
    const folder = temporaryFolder();
    const data = join(folder, 'data');
    mkdirSync(data, { mode: 0o700 });
    const isolated = ['--mount', 'sh', '-ec', READ_ONLY, data];
    const bare = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];
    const probe = spawnSync('unshare', [...isolated, ...bare, 'touch', join(folder, 'x')], {
      encoding: 'utf8',
    });
    if (!/Read-only file system/.test(probe.stderr))
      t.diagnostic('The root cannot be made read-only here; the service runs with a writable one.');
    const prefix = /Read-only file system/.test(probe.stderr) ? ['unshare', ...isolated, ...bare] : ['env'];
    const [command = '', ...args] = [...prefix, process.execPath, BIN, 'serve'];
    const env = { PORT: '0', DATA_DIR: data, NODE_COMPILE_CACHE: '' };
    const service = launchCommand(command, args, { env, cwd: '/' });
    t.after(() => service.child.kill('SIGKILL'));
    await untilPrinted(service, ({ stderr }) => /^ {2}data /m.test(stderr));
    const [, url] = /^ {2}url {6}(\S+)$/m.exec(service.output().stderr)!;
    const body = JSON.stringify({ email: 'you@example.com', agent_name: 'City guide' });
    const headers = { 'content-type': 'application/json' };
    const registered = await fetch(`${url}/v1/auth/register`, { method: 'POST', headers, body });
    assert.equal(registered.status, 200);
    service.child.kill('SIGTERM');
    const { code, stdout } = await service.ended;
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /"level":[56]0/);
    assert.match(execFileSync('ls', [data], { encoding: 'utf8' }), /^local-events\.db$/m);
  });
});
