// Runs one attack: prepares the data, starts the service, the others and the attacker, and measures until the service is
// quiet again. What it must show is in verdict.ts.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { importNew, summaryOf, toLines } from '../cli/bulk.ts';
import { newEvent } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { mintToken, startProvider } from './administrator.ts';
import type { AttackInput } from './attack.ts';
import type { Seen } from './attacker.ts';
import type { PoliteInput, PoliteOutput } from './polite.ts';
import type { Row } from './row.ts';
import { ROWS, type RowName } from './rows.ts';
import { MB, Target } from './target.ts';

export interface AttackOptions {
  readonly engine: Engine;
  readonly row: RowName;
  readonly seconds: number;
  /** The attacker connects from the address of the others. */
  readonly isOnOneAddress?: boolean;
}

export interface Outcome {
  readonly row: Row;
  readonly isAlive: boolean;
  /** The end of the service's log. */
  readonly log: string;
  readonly polite: PoliteOutput;
  readonly seen: Seen;
  readonly peakGrowthMb: number;
  /** Peak of the operating system's buffers for connections, of this machine as a whole. */
  readonly tcpMb: number;
  /** How long the service's main thread waited for a core. */
  readonly waitedMs: number;
  /** Growth of heap and external memory after a collection; undefined if the service did not report it. */
  readonly keptMb: number | undefined;
  readonly diskGrowthMb: number;
  /** Status of the list after the administrator signed in, or what went wrong; undefined if nobody signs in. */
  readonly signedIn?: number | string | undefined;
}

const POLITE_ADDRESS = '127.0.0.1';
const WARM_UP_MS = 1_000;
/** How long the others go on after the attack. */
const AFTER_MS = 1_500;
const SAMPLE_MS = 50;
/** Time for memory to return: connections time out, and buffers are freed in the background. */
const RETURN_MS = 15_000;

const PAGE_BYTES = 4_096;

const ORDINARY = 300;
const LONG = 100;
const LONG_TEXT = '😀'.repeat(9_999);

export async function runAttack({
  engine,
  row: name,
  seconds,
  isOnOneAddress,
}: AttackOptions): Promise<Outcome> {
  const row: Row = ROWS[name];
  const data = await ENGINES[engine]();
  const ownKey = await addEvents(row, data);
  const provider = row.signsIn ? await startProvider() : undefined;
  const target = await Target.start({ ...data, ...row.env, ...provider?.env });
  try {
    const addresses = isOnOneAddress || row.isOnOneAddress ? [POLITE_ADDRESS] : addressesOf(row);
    const key = await register(target.url, POLITE_ADDRESS);
    const keys = row.keys === 0 ? [] : [ownKey];
    while (keys.length < row.keys) {
      keys.push(await register(target.url, addresses[keys.length % addresses.length]!));
    }
    if (row.events) await untilWords(target.url, ownKey);
    const others = { url: target.url, key, token: provider ? undefined : await mintToken(data) };
    const outcome = await observe(row, target, others, {
      row: name,
      url: target.url,
      keys,
      addresses,
      seconds,
    });
    return { ...outcome, signedIn: await provider?.signInAndList(target.url) };
  } finally {
    await target.stop();
    await provider?.close();
  }
}

async function observe(row: Row, target: Target, others: PoliteInput, attack: AttackInput): Promise<Outcome> {
  const polite = spawnScript('polite.ts', others);
  await sleep(WARM_UP_MS);
  const diskBefore = await target.diskBytes();
  const usedBefore = await target.findUsedBytes();
  assert.ok(usedBefore !== undefined);
  const residentBefore = target.findResidentBytes()!;
  const waitedBefore = target.waitedMs();
  let peak = residentBefore;
  let tcpMb = 0;
  const sampler = setInterval(() => {
    peak = Math.max(peak, target.findResidentBytes() ?? 0);
    tcpMb = Math.max(tcpMb, tcpBufferMb());
  }, SAMPLE_MS);
  const seen = await outputOf<Seen>(spawnScript('attack.ts', attack));
  await sleep(AFTER_MS);
  const reported = outputOf<PoliteOutput>(polite);
  polite.kill('SIGTERM');
  const politeOutput = await reported;
  clearInterval(sampler);
  return {
    row,
    polite: politeOutput,
    seen,
    tcpMb,
    waitedMs: target.waitedMs() - waitedBefore,
    peakGrowthMb: (peak - residentBefore) / MB,
    keptMb: await keptMbOf(target, usedBefore, row.maxKeptMb ?? DEFAULT_MAX_KEPT_MB),
    diskGrowthMb: ((await target.diskBytes()) - diskBefore) / MB,
    isAlive: target.isAlive,
    log: target.log(),
  };
}

export const DEFAULT_MAX_KEPT_MB = 32;

function tcpBufferMb(): number {
  const pages = /^TCP: .* mem (\d+)$/m.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1];
  return (Number(pages ?? 0) * PAGE_BYTES) / MB;
}

/** Waits until memory is nearly what it was, or time is up. */
async function keptMbOf(target: Target, usedBefore: number, enoughMb: number): Promise<number | undefined> {
  const endMs = performance.now() + RETURN_MS;
  for (;;) {
    const used = await target.findUsedBytes();
    if (used === undefined) return undefined;
    const keptMb = (used - usedBefore) / MB;
    if (keptMb <= enoughMb || performance.now() > endMs) return keptMb;
    await sleep(500);
  }
}

/** Adds ordinary events that the others find, and events of the attacker. Returns the attacker's key. */
async function addEvents({ ownEvents, events }: Row, env: Record<string, string>): Promise<string> {
  await importNew(toLines(Array.from({ length: ORDINARY }, () => newEvent())), env);
  if (events) {
    const imported = await importNew(toLines([...events()]), env);
    assert.equal(summaryOf(imported).refused, 0, imported.stderr);
    return imported.key;
  }
  const own =
    ownEvents === undefined
      ? Array.from({ length: LONG }, () => newEvent({ lat: 0, lng: 0, description: LONG_TEXT }))
      : Array.from({ length: ownEvents }, () => newEvent({ lat: 0, lng: 0, description: 'x'.repeat(80) }));
  return (await importNew(toLines(own), env)).key;
}

/** Resolves when searches by words work: their index is read after the start. */
async function untilWords(url: string, key: string): Promise<void> {
  for (let status = 0; status !== 200; ) {
    const response = await fetch(`${url}/v1/events/nearby?lat=0&lng=0&q=event`, {
      headers: { 'x-api-key': key },
    });
    await response.arrayBuffer();
    status = response.status;
  }
}

function addressesOf({ addresses = 1 }: Row): string[] {
  return Array.from({ length: addresses }, (_, number) => `127.0.0.${2 + number}`);
}

/** Registers an agent from this address and returns its key. */
async function register(url: string, localAddress: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { 'content-type': 'application/json' };
  request(`${url}/v1/auth/register`, { method: 'POST', localAddress, headers }, (response) => {
    text(response).then(resolve, reject);
  })
    .on('error', reject)
    .end(JSON.stringify({ email: 'agent@example.com', agent_name: 'agent' }));
  const answer = await promise;
  const { api_key } = JSON.parse(answer);
  assert.equal(typeof api_key, 'string', answer);
  return api_key;
}

function spawnScript(name: string, input: unknown): ChildProcess {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return child;
}

async function outputOf<T>(child: ChildProcess): Promise<T> {
  const printed = await text(child.stdout!);
  assert.notEqual(printed, '', 'a process of the test ended without a report');
  return JSON.parse(printed) as T;
}
