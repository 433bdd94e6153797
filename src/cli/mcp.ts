// The `mcp` command: offers the service's tools on standard input and output, for clients that can only start a process. It
// forwards messages, one per line, to the service at --url; failures of HTTP become JSON-RPC errors. It reads only the fields that HTTP
// headers and cancellation need. The key comes from the environment, which other users cannot see.
import { readApiKey } from '../config.ts';
import { type Env, type Io, printable, readArguments, UsageError } from './command.ts';
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

interface BridgeOptions {
  /** URL of the service's MCP endpoint. */
  readonly url: string;
  readonly key: string;
  /** Sends a message to the client. */
  send(line: string): void;
  /** Shows an error to the operator. */
  report(message: string): void;
}

type Id = string | number;

/** Fields of a JSON-RPC message that the bridge reads. */
interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: {
    readonly name?: unknown;
    readonly uri?: unknown;
    readonly requestId?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
  readonly result?: { readonly protocolVersion?: unknown };
}

/** One HTTP request. */
interface Exchange {
  /** IDs of the JSON-RPC requests without a response yet; a batch has several. */
  readonly waiting: Set<Id>;
  readonly cancelled: Set<Id>;
  readonly abort: AbortController;
}

/** Key in `_meta` of newer protocol versions, which have no handshake. */
const PROTOCOL_VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
/** JSON-RPC error codes: invalid JSON, and the first of those that a server may define. */
const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;

export class McpBridge {
  readonly #options: BridgeOptions;
  readonly #pending = new Map<Exchange, Promise<void>>();
  /** Protocol version from the `initialize` handshake of older versions. */
  #negotiatedVersion: string | undefined;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /** Forwards a line; undefined: the line was too long. Does not wait for responses, so they may arrive in any order. */
  forward(bytes: Buffer | undefined): void {
    if (bytes === undefined) {
      this.#fail([null], PARSE_ERROR, 'The message is longer than 1 MiB.');
      return;
    }
    const line = bytes.toString('utf8');
    if (line.trim() === '') return;
    const parsed = parse(line);
    if (parsed === undefined) {
      this.#fail([null], PARSE_ERROR, 'The line is not valid JSON.');
      return;
    }
    const single = parsed.length === 1 ? parsed[0]! : {};
    if (single.method === 'notifications/cancelled') {
      this.#cancel(single.params?.requestId);
      return;
    }
    const ids = parsed.flatMap(({ id, method }) => (isId(id) && method !== undefined ? [id] : []));
    const exchange = { waiting: new Set(ids), cancelled: new Set<Id>(), abort: new AbortController() };
    const done = this.#post(line, this.#headersFor(single), exchange);
    this.#pending.set(
      exchange,
      done.finally(() => this.#pending.delete(exchange)),
    );
  }

  /** Resolves when every forwarded message has its response. */
  async finish(): Promise<void> {
    await Promise.all(this.#pending.values());
  }

  /** Aborts the HTTP request, which cancels it. A batch is aborted only when all its requests are cancelled. */
  #cancel(id: unknown): void {
    for (const { waiting, cancelled, abort } of this.#pending.keys()) {
      if (!waiting.delete(id as Id)) continue;
      cancelled.add(id as Id);
      if (waiting.size === 0) abort.abort();
    }
  }

  async #post(body: string, headers: Record<string, string>, exchange: Exchange): Promise<void> {
    const { url } = this.#options;
    const { waiting } = exchange;
    const { signal } = exchange.abort;
    try {
      // Do not follow redirects: they would send the key to another server.
      const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
        for await (const text of readEventStream(response.body!)) this.#receive(text, exchange);
      } else {
        const text = await response.text();
        if (response.status !== 202 && !this.#receive(text, exchange)) {
          this.#fail(waiting, SERVER_ERROR, explain(url, response, text));
          return;
        }
      }
      if (waiting.size > 0) this.#fail(waiting, SERVER_ERROR, `${url} sent no response to the message.`);
    } catch (error) {
      if (signal.aborted) return;
      const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
      const reason = cause?.code ?? cause?.message ?? message;
      this.#fail(
        waiting,
        SERVER_ERROR,
        `Cannot reach ${url} (${reason}). Check that the service is running there.`,
      );
    }
  }

  /** Sends the message, or each message of a batch, to the client. False if the text is not JSON-RPC. */
  #receive(text: string, { waiting, cancelled }: Exchange): boolean {
    const messages = parse(text) ?? [];
    if (messages.length === 0 || messages.some(({ jsonrpc }) => jsonrpc !== '2.0')) return false;
    for (const message of messages) {
      const { id, method, result } = message;
      if (typeof result?.protocolVersion === 'string') this.#negotiatedVersion = result.protocolVersion;
      if (id === null && waiting.size > 0) {
        // The error names no request, so it applies to all that wait.
        for (const each of waiting) this.#send({ ...message, id: each });
        waiting.clear();
      } else if (!isId(id) || !cancelled.has(id)) {
        if (isId(id) && method === undefined) waiting.delete(id);
        // Unparsed if possible: parsing would round numbers with many digits.
        if (messages.length === 1) this.#options.send(text.replaceAll(/[\r\n]+/g, ' '));
        else this.#send(message);
      }
    }
    return true;
  }

  #send(message: object): void {
    this.#options.send(JSON.stringify(message));
  }

  #fail(ids: Iterable<Id | null>, code: number, message: string): void {
    this.#options.report(printable(message));
    for (const id of ids) this.#send({ jsonrpc: '2.0', id, error: { code, message } });
  }

  #headersFor({ method, params }: Message): Record<string, string> {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-api-key': this.#options.key,
    };
    const version = params?._meta?.[PROTOCOL_VERSION_KEY];
    if (typeof version === 'string') {
      const name = params?.name ?? params?.uri;
      headers['mcp-protocol-version'] = toHeader(version);
      if (typeof method === 'string') headers['mcp-method'] = toHeader(method);
      if (typeof name === 'string') headers['mcp-name'] = toHeader(name);
    } else if (this.#negotiatedVersion !== undefined) {
      headers['mcp-protocol-version'] = this.#negotiatedVersion;
    }
    return headers;
  }
}

/** One message, or those of a batch; undefined if the text is not JSON. */
function parse(text: string): readonly Message[] | undefined {
  try {
    return [JSON.parse(text)].flat().map((message) => Object(message));
  } catch {
    return undefined;
  }
}

function isId(id: unknown): id is Id {
  return typeof id === 'string' || typeof id === 'number';
}

/** Encodes a string for a header as the protocol requires: Base64 if it is not plain ASCII. */
function toHeader(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Message for a response without JSON-RPC: the service's own error message, if it has one. */
function explain(url: string, { status, headers }: Response, text: string): string {
  const target = headers.get('location');
  if (target !== null) {
    const newUrl = URL.parse(target, url)?.href ?? target;
    return `The service has moved: ${url} redirects to ${newUrl}. Use that as --url.`;
  }
  const { error } = Object(parse(text)?.[0]) as { error?: { code?: unknown; message?: unknown } };
  if (typeof error?.code === 'string') return `${error.code}: ${error.message}`;
  return `${url} returned status ${status}, but not a response of this service. Check --url.`;
}

/** Yields the data of each server-sent event, its lines joined. Ignores comments and other fields. */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of readTextLines(body)) {
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    else if (line === '' && data.length > 0) {
      yield data.join('\n');
      data = [];
    }
  }
}

/** Yields complete lines that end with CRLF, LF or CR. Scans each chunk once, so that long lines stay cheap. */
async function* readTextLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let partial: string[] = [];
  let endedWithCr = false;
  for await (const chunk of body.pipeThrough(new TextDecoderStream() as never) as ReadableStream<string>) {
    // The previous chunk ended with CR. An LF at the start belongs to the same line end.
    const text = endedWithCr && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') endedWithCr = chunk.endsWith('\r');
    const [first = '', ...others] = text.split(/\r\n|\n|\r/);
    partial.push(first);
    for (const next of others) {
      yield partial.join('');
      partial = [next];
    }
  }
}
