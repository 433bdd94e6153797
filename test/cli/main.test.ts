// The command line as a whole: help, version, invalid arguments, and a Node that is too old.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runHere } from '../support/command.ts';
import { BIN, type Ended, launchCommand, run } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

describe('the command line', { concurrency: 2 }, () => {
  for (const [args, start] of [
    [['--help'], run],
    [[], runHere],
  ] as const) {
    it(`prints its help: ${args.join(' ') || 'no command'}`, async () => {
      const { code, stdout, stderr } = await start(args);
      assert.equal(code, 0);
      assert.equal(stderr, '');
      for (const word of [
        'Usage:',
        'serve',
        'admin-token',
        '--email',
        '--hours',
        'import',
        '--key-stdin',
        'export',
        '--out',
        'backup',
        'restore',
        'mcp',
        '--url',
        'LOCAL_EVENTS_API_KEY',
      ]) {
        assert.ok(stdout.includes(word), word);
      }
    });
  }

  it('prints the help of one command, and runs nothing', async () => {
    const folder = join(temporaryFolder(), 'data');
    const env = { DATA_DIR: folder, PORT: 'x' };
    const commands = [...(await runHere(['help'])).stdout.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(
      (match) => match[1]!,
    );
    assert.ok(commands.length >= 8, commands.join());
    for (const command of commands) {
      const outcomes = await Promise.all(
        [
          [command, '--help'],
          [command, '-h'],
          [command, 'FILE', '--help'],
          ['help', command],
        ].map((args) => runHere(args, env)),
      );
      const [{ stdout }] = outcomes as [Ended];
      for (const ended of outcomes)
        assert.deepEqual(ended, { code: 0, signal: null, stdout, stderr: '' }, command);
      assert.match(stdout, new RegExp(`^Usage: npx local-events ${command} `, 'm'));
      const shown = commands.filter((other) => new RegExp(`^ {2}${other} {2}`, 'm').test(stdout));
      assert.deepEqual(shown, [command]);
    }
    assert.ok(!existsSync(folder), 'nothing was made');
  });

  it('exits with 2 for bad settings, whatever the command', async () => {
    const folder = join(temporaryFolder(), 'data');
    const env = { DATA_DIR: folder, RATE_LIMIT_READ: 'many', LOCAL_EVENTS_API_KEY: 'lev_x' };
    for (const args of [
      ['serve'],
      ['admin-token', '--email', 'ada@example.com'],
      ['import', '-', '--email', 'ada@example.com', '--name', 'Ada'],
      ['export'],
      ['backup', join(folder, 'x.db')],
      ['restore', join(folder, 'x.db')],
      ['move', '--to', 'postgres://u@h/d'],
    ]) {
      const { code, stdout, stderr } = await runHere(args, env);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.equal(stderr, 'RATE_LIMIT_READ must be a whole number from 0 to 1000000000; it is "many".\n');
    }
    const { code } = await runHere(['mcp', '--url', 'http://127.0.0.1:1'], env);
    assert.equal(code, 2);
    assert.equal((await run(['serve'], { PORT: 'x' })).code, 2, 'a process, too');
    assert.ok(!existsSync(folder), 'nothing was made');
  });

  it('prints only its version', async () => {
    const { code, stdout, stderr } = await runHere(['--version']);
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${version}\n`, stderr: '' });
  });

  for (const [name, start] of [
    ['nope', run],
    ['constructor', runHere],
    ['__proto__', runHere],
  ] as const) {
    it(`refuses the unknown command "${name}"`, async () => {
      const { code, stdout, stderr } = await start([name]);
      assert.equal(code, 2);
      assert.equal(stdout, '');
      assert.ok(stderr.startsWith(`Unknown command "${name}".\n`), stderr);
      assert.match(stderr, /^Usage:/m);
    });
  }

  it('says what to do under a Node that is too old', async () => {
    const [node, bin] = findOldNode();
    const { code, stdout, stderr } = await launchCommand(node, [bin, 'serve']).ended;
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /needs Node \d+ or newer; this is Node \d+\.\d+\.\d+/);
    assert.match(stderr, /npm ci && npm start/);
    assert.doesNotMatch(stderr, /SyntaxError|^ +at /m);
  });
});

/** The machine's own Node if it is too old; otherwise this one, with a copy of the program that needs a newer one. */
function findOldNode(): [node: string, bin: string] {
  const needed = /const NEEDED = (\d+);/.exec(readFileSync(BIN, 'utf8'))!;
  for (const node of ['/usr/bin/node', '/usr/local/bin/node']) {
    if (!existsSync(node)) continue;
    const major = /^v(\d+)/.exec(execFileSync(node, ['--version'], { encoding: 'utf8' }))![1];
    if (Number(major) < Number(needed[1])) return [node, BIN];
  }
  const folder = join(temporaryFolder(), 'bin');
  mkdirSync(folder);
  const copy = join(folder, 'local-events.mjs');
  writeFileSync(copy, readFileSync(BIN, 'utf8').replace(needed[0], 'const NEEDED = 999;'));
  return [process.execPath, copy];
}
