// Messages of the Model Context Protocol from lines of text to HTTP and back: each becomes a request, and its answers lines.
// What they mean is left to both ends; only what HTTP wants to know in headers is looked for, and what goes wrong on the way
// is answered as an error of the protocol.

import { printable } from './printable.ts';
import { readEventStream } from './server-sent-events.ts';

interface BridgeOptions {
  readonly address: string;
  readonly key: string;
  /** Takes a message for the client. */
  send(line: string): void;
  /** Takes a sentence for the operator. */
  report(message: string): void;
}

type Id = string | number;

/** As much of a message as concerns the way there and back. */
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

interface Passage {
  /** Of the requests that wait for an answer; more than one in a batch. */
  readonly waiting: Set<Id>;
  readonly cancelled: Set<Id>;
  readonly abort: AbortController;
}

const REVISION = 'io.modelcontextprotocol/protocolVersion';
/** Of JSON-RPC: what is not JSON, and what a server may define. */
const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;

export class McpBridge {
  readonly #options: BridgeOptions;
  readonly #underWay = new Map<Passage, Promise<void>>();
  /** What the handshake of older revisions agreed on. */
  #agreedRevision: string | undefined;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /** A line; undefined: one that is too long. Answers come when they come; messages do not wait for each other. */
  take(bytes: Buffer | undefined): void {
    if (bytes === undefined) {
      this.#fail([null], PARSE_ERROR, 'A message must not be longer than 1 MiB.');
      return;
    }
    const line = bytes.toString('utf8');
    if (line.trim() === '') return;
    const parsed = parse(line);
    if (parsed === undefined) {
      this.#fail([null], PARSE_ERROR, 'A line is not JSON.');
      return;
    }
    const single = parsed.length === 1 ? parsed[0]! : {};
    if (single.method === 'notifications/cancelled') {
      this.#cancel(single.params?.requestId);
      return;
    }
    const ids = parsed.flatMap(({ id, method }) => (isId(id) && method !== undefined ? [id] : []));
    const passage = { waiting: new Set(ids), cancelled: new Set<Id>(), abort: new AbortController() };
    const done = this.#pass(line, this.#headersFor(single), passage);
    this.#underWay.set(
      passage,
      done.finally(() => this.#underWay.delete(passage)),
    );
  }

  /** Resolves when everything taken is answered. */
  async finish(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  /** Over HTTP, to hang up is to cancel. Others of the same batch go on. */
  #cancel(id: unknown): void {
    for (const { waiting, cancelled, abort } of this.#underWay.keys()) {
      if (!waiting.delete(id as Id)) continue;
      cancelled.add(id as Id);
      if (waiting.size === 0) abort.abort();
    }
  }

  async #pass(body: string, headers: Record<string, string>, passage: Passage): Promise<void> {
    const { address } = this.#options;
    const { waiting } = passage;
    const { signal } = passage.abort;
    try {
      // Elsewhere, a redirect would lead the key.
      const response = await fetch(address, { method: 'POST', headers, body, signal, redirect: 'manual' });
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
        for await (const text of readEventStream(response.body!)) this.#answer(text, passage);
      } else {
        const text = await response.text();
        if (response.status !== 202 && !this.#answer(text, passage)) {
          this.#fail(waiting, SERVER_ERROR, explain(address, response, text));
          return;
        }
      }
      if (waiting.size > 0) this.#fail(waiting, SERVER_ERROR, `${address} did not answer the message.`);
    } catch (error) {
      if (signal.aborted) return;
      const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
      const reason = cause?.code ?? cause?.message ?? message;
      this.#fail(waiting, SERVER_ERROR, `Cannot reach ${address} (${reason}). Does the service run there?`);
    }
  }

  /** Passes on the message, or those of a batch. False for what is none. */
  #answer(text: string, { waiting, cancelled }: Passage): boolean {
    const messages = parse(text) ?? [];
    if (messages.length === 0 || messages.some(({ jsonrpc }) => jsonrpc !== '2.0')) return false;
    for (const message of messages) {
      const { id, method, result } = message;
      if (typeof result?.protocolVersion === 'string') this.#agreedRevision = result.protocolVersion;
      if (id === null && waiting.size > 0) {
        // It names no request, so it is meant for those that wait.
        for (const each of waiting) this.#send({ ...message, id: each });
        waiting.clear();
      } else if (!isId(id) || !cancelled.has(id)) {
        if (isId(id) && method === undefined) waiting.delete(id);
        // As it came, where it came alone: numbers may have more digits than we would keep.
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
    const revision = params?._meta?.[REVISION];
    if (typeof revision === 'string') {
      const name = params?.name ?? params?.uri;
      headers['mcp-protocol-version'] = toHeader(revision);
      if (typeof method === 'string') headers['mcp-method'] = toHeader(method);
      if (typeof name === 'string') headers['mcp-name'] = toHeader(name);
    } else if (this.#agreedRevision !== undefined) {
      headers['mcp-protocol-version'] = this.#agreedRevision;
    }
    return headers;
  }
}

/** One message, or those of a batch; undefined for what is not JSON. */
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

/** As the protocol writes a text that a header cannot hold as it is. */
function toHeader(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** In the service's own words, where there are any. */
function explain(address: string, { status, headers }: Response, text: string): string {
  const target = headers.get('location');
  if (target !== null) {
    const there = URL.parse(target, address)?.href ?? target;
    return `The service is elsewhere: ${address} leads to ${there}. Give that as --url.`;
  }
  const { error } = Object(parse(text)?.[0]) as { error?: { code?: unknown; message?: unknown } };
  if (typeof error?.code === 'string') return `${error.code}: ${error.message}`;
  return `${address} answers ${status}, but not as a service of this kind would. Is --url right?`;
}
