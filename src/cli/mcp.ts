// `mcp`: the service's tools over standard input and output, for clients that can only start a process. A message a line is
// passed on to the service at --url; the key comes from the environment, where other users of the machine cannot see it.
import { parseArgs } from 'node:util';
import { readApiKey } from '../config.ts';
import type { Env, Io } from './command.ts';
import { McpBridge } from './mcp-bridge.ts';
import { readLines } from './ndjson.ts';
import { UsageError } from './usage-error.ts';

export async function mcp(args: string[], env: Env, io: Io): Promise<number> {
  const address = readAddress(args);
  const key = readApiKey(env);
  // Whoever reads is gone, and with it the reason to be here.
  io.stdout.on('error', () => io.exit(0));
  const bridge = new McpBridge({
    address,
    key,
    send: (line) => io.stdout.write(`${line}\n`),
    report: (message) => io.stderr.write(`${message}\n`),
  });
  io.stderr.write(`Passing messages on to ${address} until standard input ends.\n`);
  for await (const lines of readLines(io.stdin)) for (const line of lines) bridge.take(line.bytes);
  await bridge.finish();
  return 0;
}

/** That of /mcp, whether or not it was given with that ending. */
function readAddress(args: string[]): string {
  let values: { url?: string };
  try {
    values = parseArgs({ args, options: { url: { type: 'string' } } }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const url = URL.parse(values.url ?? '');
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError('--url needs the address of the service, such as http://127.0.0.1:8080.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--url must not hold a user or password; the key comes from LOCAL_EVENTS_API_KEY.');
  }
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path.endsWith('/mcp') ? path : `${path}/mcp`}`;
}
