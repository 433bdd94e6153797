// The output of a real process that loads many events, to a pipe and to a terminal (created by script(1)). The process is
// paused for a while, so that loading takes long on any machine.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeManyEvents } from '../sqlite/data.ts';
import { BIN, freePort, launchCommand, type RunningProcess, untilPrinted } from '../support/process.ts';

/** Starts `serve` by a shell command, whose first word of output is the PID. */
async function start(test: TestContext, command: string, ...args: string[]) {
  const port = await freePort();
  const env = { DATA_DIR: makeManyEvents(), PORT: String(port), LOG_LEVEL: 'warn' }; // no lines about requests beside the bar
  const running = launchCommand(command, args, { env });
  await untilPrinted(running, ({ stdout }) => /^\d+\r?\n/.test(stdout));
  const pid = Number.parseInt(running.output().stdout, 10);
  test.after(() => running.child.kill('SIGKILL'));
  return { running, pid, url: `http://127.0.0.1:${port}` };
}

const SERVE = `echo $$; exec '${process.execPath}' '${BIN}' serve`;

/** Pauses the process once it responds that it is starting, and ends it once it is ready. */
async function delay(
  { running, pid, url }: { running: RunningProcess; pid: number; url: string },
  ms: number,
) {
  let answer: Response | undefined;
  while (!answer) {
    await sleep(5);
    answer = await fetch(`${url}/health`).catch(() => undefined);
  }
  process.kill(pid, 'SIGSTOP');
  assert.equal(answer.status, 503, 'it was still loading');
  await sleep(ms);
  process.kill(pid, 'SIGCONT');
  running.child.kill('SIGCONT'); // script(1) pauses itself with its child
  await untilPrinted(running, ({ stdout, stderr }) => (stdout + stderr).includes('data     '));
  process.kill(pid, 'SIGTERM');
  const ended = await running.ended;
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
}

describe('serve, while it loads many events', { concurrency: 2, timeout: 60_000 }, () => {
  it('prints plain lines to a pipe, and finally the next step', async (test) => {
    const { stderr } = await delay(await start(test, 'sh', '-c', SERVE), 1_200);
    const [line, ...others] = stderr.split('\n');
    assert.match(line!, /^\d+ %, \d0,000 events, [\d,]+\/s, (?:\d+ min )?\d+ s left$/);
    const last = others.indexOf('loaded 100,000 events, building the index');
    assert.ok(last >= 0, stderr);
    assert.match(others[last + 1]!, /^local-events \S+ is ready$/);
  });

  it('draws one bar on a terminal, and finally replaces it by the next step', async (test) => {
    const script = ['-q', '-e', '-f', '-c', SERVE, '/dev/null'];
    const { stdout } = await delay(await start(test, 'script', ...script), 600);
    const drawn = stdout.split('\r').filter((line) => line.includes('%'));
    assert.ok(drawn.length > 0, stdout);
    for (const line of drawn) {
      assert.match(line, /^\[#*-*\] \d+ %, \d0,000 events, [\d,]+\/s, (?:\d+ min )?\d+ s left\x1b\[K/);
    }
    assert.match(
      stdout,
      /left\x1b\[K\r\x1b\[Kloaded 100,000 events, building the index\r\nlocal-events \S+ is ready\r\n/,
    );
  });
});
