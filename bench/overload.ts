// npm run bench -- --overload: throughput at 5,000 connections compared with 256, and the latency that a polite client sees
// meanwhile. All on one machine: the flood has a lower priority than the service and the polite client.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { PoliteInput, PoliteOutput } from '../test/attacks/polite.ts';
import { makeCases } from './cases.ts';
import { benchAgents, CACHE, copyFolder, prepareFolder } from './data.ts';
import type { FloodInput, FloodOutput } from './flood.ts';
import { prime, untilWords } from './load.ts';
import { runScript, startService } from './processes.ts';
import { describeMachine, fixed, markdownTable, type Row, whole, withSpread } from './report.ts';
import { median, spread } from './statistics.ts';

interface OverloadOptions {
  readonly events: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly command: string;
  readonly loadBefore: number;
}

interface Flood {
  readonly name: string;
  readonly connections: number;
  readonly isPatient: boolean;
}

interface Burst {
  readonly served: number;
  readonly refused: number;
  readonly lost: number;
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
  readonly politeOk: number;
}

const FLOODS: readonly Flood[] = [
  { name: '256', connections: 256, isPatient: false },
  { name: '5,000, waiting as Retry-After says', connections: 5_000, isPatient: true },
  { name: '5,000, sending again at once', connections: 5_000, isPatient: false },
];

/** Each has 100 of the 5,000 connections, so that no single client is over its share. */
const ADDRESSES = Array.from({ length: 50 }, (_, number) => `127.0.0.${2 + number}`);
/** Opening 5,000 connections takes two seconds. */
const WARM_SECONDS = 4;

const POLITE = fileURLToPath(new URL('../test/attacks/polite.ts', import.meta.url));

export async function measureOverload(options: OverloadOptions): Promise<string> {
  const folder = copyFolder(prepareFolder(options.events), 'overload');
  const requests = join(CACHE, 'requests');
  mkdirSync(requests, { recursive: true });
  const agents = benchAgents();
  const city = makeCases(requests, agents, folder).find(({ name }) => name === 'city')!;
  const keys = agents.creators.map(({ key }) => key);
  const service = await startService(folder, join(folder, 'access.log'));
  const bursts = new Map<Flood, Burst[]>(FLOODS.map((flood) => [flood, []]));
  try {
    await untilWords(service, agents.searcher.key);
    await prime(service.url, city, agents.searcher.key);
    // Round 0 is a warm-up and is not measured.
    for (let round = 0; round <= options.rounds; round++) {
      console.error(round === 0 ? 'warming up' : `round ${round} of ${options.rounds}`);
      for (const flood of round % 2 === 0 ? FLOODS : FLOODS.toReversed()) {
        const input = {
          ...{ url: service.url, requestFile: city.requestFile, keys, addresses: ADDRESSES },
          ...{ connections: flood.connections, isPatient: flood.isPatient },
          ...{ warmSeconds: WARM_SECONDS, seconds: options.seconds },
        };
        const burst = await measureBurst(input, {
          url: service.url,
          key: agents.searcher.key,
          token: undefined,
        });
        if (round > 0) bursts.get(flood)!.push(burst);
      }
    }
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return render(bursts, options);
}

async function measureBurst(input: FloodInput, politeInput: PoliteInput): Promise<Burst> {
  const flooding = runScript<FloodOutput>('flood.ts', input);
  const polite = spawn(process.execPath, [POLITE, JSON.stringify(politeInput)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { perSecond } = await flooding;
  const { searches } = await endPolite(polite);
  const sum = (pattern: RegExp) =>
    Object.entries(perSecond).reduce((total, [name, rate]) => total + (pattern.test(name) ? rate : 0), 0);
  const ms = searches.map((sample) => sample.ms).sort((a, b) => a - b);
  const at = (share: number) => ms[Math.min(ms.length - 1, Math.floor(ms.length * share))]!;
  return {
    served: sum(/^200$/),
    refused: sum(/^(?:429|503)$/),
    lost: sum(/^(?!connected|200$|429$|503$)/),
    ...{ p50: at(0.5), p99: at(0.99), slowest: at(1) },
    politeOk: searches.filter(({ status }) => status === 200).length / searches.length,
  };
}

async function endPolite(polite: ChildProcess): Promise<PoliteOutput> {
  const printed = text(polite.stdout!);
  polite.kill('SIGTERM');
  return JSON.parse(await printed) as PoliteOutput;
}

const HEAD: Row = [
  'connections',
  '200s/s',
  '÷ those at 256',
  '429s and 503s/s',
  'other or closed/s',
  'polite: 200s',
  'p50 ms',
  'p99 ms',
  'slowest ms',
];

function render(bursts: ReadonlyMap<Flood, readonly Burst[]>, options: OverloadOptions): string {
  const { events, rounds, seconds, ...run } = options;
  const base = bursts.get(FLOODS[0]!)!;
  const rows = [...bursts].map(([{ name }, measured]): Row => {
    const middle = (of: keyof Burst) => median(measured.map((burst) => burst[of]));
    const ratio = spread(measured.map((burst, round) => burst.served / base[round]!.served));
    return [
      name,
      whole(middle('served')),
      withSpread(ratio, fixed),
      whole(middle('refused')),
      whole(middle('lost')),
      `${fixed(middle('politeOk') * 100, 1)} %`,
      ...[middle('p50'), middle('p99'), Math.max(...measured.map(({ slowest }) => slowest))].map((ms) =>
        fixed(ms, 1),
      ),
    ];
  });
  return [
    '# Overload',
    '',
    'Floods of warm `city` searches from 50 addresses with 100 keys. A polite client on another address with its own key searches',
    'every 40 ms meanwhile, on a new and on a kept connection in turn, without catching up after a delay. Service, flood and polite',
    'client share the machine; the flood runs at nice 5, because a real one comes from other machines. A closed connection is',
    'replaced, at most 250 a second.',
    '',
    ...markdownTable([HEAD, ...rows]),
    '',
    `${whole(events)} events; ${rounds} interleaved rounds of ${seconds} s. Ratios are medians of the ratios within a round, with minimum and ` +
      'maximum in brackets; the slowest search is that of all rounds; all other numbers are medians of the rounds.',
    '',
    ...markdownTable([['', ''], ...describeMachine(run)]),
    '',
  ].join('\n');
}
