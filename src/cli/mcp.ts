// The `mcp` command: offers the service's tools on standard input and output, for clients that can only start a process. It
// forwards messages, one per line, to the service at --url. The key comes from the environment, which other users cannot see.
import { readApiKey } from '../config.ts';
import { type Env, type Io, readArguments, UsageError } from './command.ts';
import { McpBridge } from './mcp-bridge.ts';
import { readLines } from './ndjson.ts';

export async function mcp(args: string[], env: Env, io: Io): Promise<number> {
  const url = readMcpUrl(args);
  const key = readApiKey(env);
  // The client has closed its end, so there is nothing left to do.
  io.stdout.on('error', () => io.exit(0));
  const bridge = new McpBridge({
    url,
    key,
    send: (line) => io.stdout.write(`${line}\n`),
    report: (message) => io.stderr.write(`${message}\n`),
  });
  io.stderr.write(`Forwarding messages to ${url} until standard input ends.\n`);
  for await (const lines of readLines(io.stdin)) for (const line of lines) bridge.forward(line.bytes);
  await bridge.finish();
  return 0;
}

/** URL of the MCP endpoint; --url may leave out its path /mcp. Throws UsageError. */
function readMcpUrl(args: string[]): string {
  const { values } = readArguments({ args, options: { url: { type: 'string' } } });
  const url = URL.parse(values.url ?? '');
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError('--url needs the URL of the service, such as http://127.0.0.1:8080.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--url must not contain a user or password. Put the key in LOCAL_EVENTS_API_KEY.');
  }
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path.endsWith('/mcp') ? path : `${path}/mcp`}`;
}
