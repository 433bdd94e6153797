// A service as its own process whose metrics are read.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from './client.ts';
import { BIN, launchCommand, type RunningProcess, untilPrinted } from './process.ts';
import { RawConnection, request } from './raw-http.ts';

/** Quotas are off unless a test is about them. */
const NO_QUOTAS = {
  RATE_LIMIT_READWRITE: '0',
  REGISTRATIONS_PER_HOUR: '0',
  FAILED_REGISTRATIONS_PER_HOUR: '0',
};

/** Series of requests, if clients have sent everything that they can; the others are below the rest of the 1,000. */
export const MAX_REQUEST_SERIES = 740;
export const MAX_OTHER_SERIES = 240;

const COMMENT = /^# (?:HELP [a-z_]+ \S.*|TYPE [a-z_]+ (?:counter|gauge|histogram))$/;
const SAMPLE =
  /^([a-z_]+(?:\{[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\[\\"n])*")*\})?) (-?[\d.]+(?:e[+-]?\d+)?|NaN)$/;

/** Series whose value may be unknown. */
const MAY_BE_NAN = ['local_events_backup_age_seconds'];

/** Values by series as they are written, such as `name{label="value"}`. Throws if the text is not in the format. */
export function parseMetrics(text: string): Map<string, number> {
  const values = new Map<string, number>();
  assert.ok(text.endsWith('\n'));
  for (const line of text.slice(0, -1).split('\n')) {
    if (COMMENT.test(line)) continue;
    const [, series, value] = SAMPLE.exec(line) ?? [];
    assert.ok(series, `not a line of the format: ${line}`);
    assert.ok(value !== 'NaN' || MAY_BE_NAN.includes(series), `unknown: ${series}`);
    assert.ok(!values.has(series), `twice: ${series}`);
    values.set(series, Number(value));
  }
  return values;
}

export interface MeasuredService extends RunningProcess {
  readonly client: Client;
  readonly metricsUrl: string;
  text(): Promise<string>;
  /** The value of a series now; 0 if there is none yet. */
  value(series: string): Promise<number>;
  /** Waits until the value of the series passes the check. */
  until(series: string, isThere: (value: number) => boolean): Promise<number>;
}

/** Starts `serve` with metrics; it ends with the test. `nodeOptions` come before the program. */
export async function launchMeasured(
  t: TestContext,
  env: Record<string, string>,
  nodeOptions: readonly string[] = [],
): Promise<MeasuredService> {
  const running = launchCommand(process.execPath, [...nodeOptions, BIN, 'serve'], {
    env: { PORT: '0', METRICS_PORT: '0', ...NO_QUOTAS, ...env },
  });
  t.after(() => running.child.kill('SIGKILL'));
  await untilPrinted(running, ({ stderr }) => /^ {2}data /m.test(stderr));
  const { stderr } = running.output();
  const url = /^ {2}url {6}(\S+)$/m.exec(stderr)![1]!;
  const metricsUrl = /^ {2}metrics {2}(\S+)$/m.exec(stderr)![1]!;
  const text = async () => {
    const response = await fetch(metricsUrl);
    assert.equal(response.status, 200);
    return response.text();
  };
  const value = async (series: string) => parseMetrics(await text()).get(series) ?? 0;
  return {
    ...running,
    client: new Client(url),
    metricsUrl,
    text,
    value,
    until: async (series, isThere) => {
      const untilMs = performance.now() + 15_000;
      for (;;) {
        const found = await value(series);
        if (isThere(found)) return found;
        assert.ok(performance.now() < untilMs, `${series} is ${found}`);
        await sleep(100);
      }
    },
  };
}

/** A connection with a request in progress: its body never ends. */
export async function sendUnfinished(t: TestContext, client: Client): Promise<RawConnection> {
  const connection = await RawConnection.open(client.url);
  t.after(() => connection.destroy());
  const headers = { 'Content-Type': 'application/json', 'Content-Length': '100', ...client.headers };
  connection.write(request('POST', '/v1/events', headers));
  return connection;
}

export const refusals = (cause: string) => `local_events_refusals_total{cause="${cause}"}`;

export const all = <T>(count: number, work: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)));
