// Load generator for cases that wrk cannot handle: a fixed rate, and slow servers. wrk drops the requests in flight at the
// end, so it would count too few at a slow server. Runs as a separate process; input and output are JSON.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

export interface GeneratorInput {
  readonly url: string;
  readonly requestFile: string;
  /** As in wrk.lua: undefined for creates, whose lines begin with the key. */
  readonly key: string | undefined;
  readonly connections: number;
  readonly seconds: number;
  /** Time to send requests before measuring, while processes start and code is compiled. */
  readonly warmSeconds: number;
  /** Requests per second; undefined: each connection sends the next request as soon as it has a response. */
  readonly rate: number | undefined;
  /** First line to send, and the first number for creates. */
  readonly from: number;
}

export interface GeneratorOutput {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const input = JSON.parse(process.argv[2]!) as GeneratorInput;
const lines = readFileSync(input.requestFile, 'utf8').trimEnd().split('\n');
const agent = new Agent({ keepAlive: true, maxSockets: input.connections });
const measuredFrom = performance.now() + input.warmSeconds * 1000;
const endAt = measuredFrom + input.seconds * 1000;
const latencies: number[] = [];
let next = input.from;

/** Resolves when the whole response has arrived. */
function send(): Promise<void> {
  const sentAt = performance.now();
  const line = lines[next % lines.length]!;
  const number = String(next++).padStart(10, '0');
  const [path, key, body] = input.key
    ? [line, input.key, undefined]
    : ['/v1/events', line.split('\t')[0]!, line.split('\t')[1]!.replace('##########', number)];
  return new Promise((resolve, reject) => {
    const headers = { 'X-API-Key': key, ...(body && { 'Content-Type': 'application/json' }) };
    const sent = request(input.url + path, { agent, headers, method: body ? 'POST' : 'GET' }, (response) => {
      if (response.statusCode! >= 400) reject(new Error(`${response.statusCode} for ${path}`));
      response.resume().on('end', () => {
        if (sentAt >= measuredFrom) latencies.push((performance.now() - sentAt) * 1000);
        resolve();
      });
    });
    sent.on('error', reject).end(body);
  });
}

async function closedLoop(): Promise<void> {
  const loop = async () => {
    while (performance.now() < endAt) await send();
  };
  await Promise.all(Array.from({ length: input.connections }, loop));
}

async function paced(rate: number): Promise<void> {
  const startedMs = performance.now();
  const inFlight: Promise<void>[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    const now = Math.min(performance.now(), endAt);
    while (inFlight.length < ((now - startedMs) * rate) / 1000) inFlight.push(send());
    if (now < endAt) return;
    clearInterval(timer);
    resolve();
  }, 1);
  await promise;
  await Promise.all(inFlight);
}

await (input.rate === undefined ? closedLoop() : paced(input.rate));
const seconds = (performance.now() - measuredFrom) / 1000;
latencies.sort((a, b) => a - b);
const at = (share: number) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]!;
agent.destroy();
const output: GeneratorOutput = {
  requests: latencies.length,
  perSecond: latencies.length / seconds,
  p50: at(0.5),
  p99: at(0.99),
  max: latencies.at(-1)!,
};
console.log(JSON.stringify(output));
