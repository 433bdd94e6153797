// Sends the requests of a client: waits and repeats what is safe to repeat, and turns responses into values or errors.
import { LocalEventsError } from './error.ts';

/** Of one call, or in the settings of a client for all of them. */
export interface CallOptions {
  /** Ends the call, also while it waits. It then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** For each attempt; 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** How long a call may wait in all until it repeats itself; 60,000 by default. 0: it never does. */
  readonly maxWaitMs?: number | undefined;
}

export interface Settings extends CallOptions {
  /** Where the service is, such as `https://events.example.org`. */
  readonly baseUrl: string | URL;
  /** From `register`. That needs none, nor do searches and reads where the operator allows them without a key. */
  readonly apiKey?: string | undefined;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /**
   * Sends `Prefer: handling=strict`: unknown parameters and fields, and creates of events that have ended, are refused. true by
   * default. With false they are accepted; `headersOf(result)` has the names of what was ignored.
   */
  readonly strict?: boolean | undefined;
}

/** What a method asks for. */
export interface Call {
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly hasNoKey?: boolean;
  /** Whether the request may be repeated although the first may have had an effect; true by default. */
  readonly isRepeatable?: boolean;
  /** The error that a repeated request gets if the first one succeeded. Then the call succeeds. */
  readonly doneCode?: string;
}

export type Send = <T>(
  method: string,
  path: string,
  options: CallOptions | undefined,
  call?: Call,
) => Promise<T>;

const FIRST_WAIT_MS = 250;
const MAX_OWN_WAIT_MS = 5_000;
/** Of requests that failed without a Retry-After. */
const MAX_REPEATS = 3;
/** Timers take no more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const received = new WeakMap<object, Headers>();

/**
 * The headers of the response that a result or an error of this client came in, such as `etag`, `ratelimit`, `idempotent-replayed`,
 * `event-warnings`, `resolved-place` or `x-unknown-fields`. Empty for any other object.
 */
export function headersOf(result: object): Headers {
  return received.get(result) ?? new Headers();
}

/** Encodes an ID in a path. Throws for what would be another path. */
export function segment(id: string): string {
  if (/^\.*$/.test(id)) throw new TypeError('An ID is missing.');
  return encodeURIComponent(id);
}

/** Throws TypeError if the settings cannot work. No error ever names the key. */
export function sender({ baseUrl, apiKey, fetch: ownFetch, strict = true, ...defaults }: Settings): Send {
  const { protocol, origin, pathname } = new URL(baseUrl);
  // localhost:8080 is a URL, too: of the scheme "localhost".
  if (!/^https?:$/.test(protocol)) throw new TypeError('The baseUrl must begin with http:// or https://.');
  const base = origin + pathname.replace(/\/+$/, '');
  // fetch would name it in its error.
  if (apiKey !== undefined && !/^[!-~]+$/.test(apiKey))
    throw new TypeError('The apiKey is empty or malformed.');

  return async (
    method,
    path,
    options,
    { query, body, headers, hasNoKey, isRepeatable = true, doneCode } = {},
  ) => {
    const { signal, timeoutMs = 30_000, maxWaitMs = 60_000 } = { ...defaults, ...options };
    const request: RequestInit = {
      method,
      headers: definedOf({
        'x-api-key': hasNoKey ? undefined : apiKey,
        prefer: strict ? 'handling=strict' : undefined,
        'content-type': body && 'application/json',
        ...headers,
      }) as Record<string, string>,
      body: body ? JSON.stringify(body) : null,
      // A redirect must not take the key elsewhere. Workers know no 'error'.
      redirect: 'manual',
    };
    /** The first failure that may have come after the effect. */
    let uncertain: unknown;
    for (let repeats = 0, failures = 0, waitedMs = 0; ; repeats++) {
      try {
        return await receive(ownFetch ?? fetch, base + path + queryOf(query), request, signal, timeoutMs);
      } catch (error) {
        if (!(error instanceof LocalEventsError)) throw error;
        const { code, status = 500, retryAfterSeconds } = error;
        if (uncertain) {
          if (code === doneCode) return undefined as never;
          error.cause ??= uncertain;
        }
        const isRefused = status === 429;
        if (!isRefused && !(isRepeatable && (status === 408 || status >= 500))) throw error;
        if (retryAfterSeconds === undefined && ++failures > MAX_REPEATS) throw error;
        const ownMs = Math.min(FIRST_WAIT_MS * 2 ** repeats, MAX_OWN_WAIT_MS);
        // Clients that were refused together do not come back together.
        const waitMs = Math.max(ownMs, (retryAfterSeconds ?? 0) * 1_000) + FIRST_WAIT_MS * Math.random();
        waitedMs += waitMs;
        if (waitedMs > maxWaitMs) throw error;
        if (!isRefused) uncertain ??= error;
        await sleep(waitMs, signal);
      }
    }
  };
}

/** One attempt. Rejects with LocalEventsError, or with the reason of the signal. */
async function receive(
  send: typeof fetch,
  url: string,
  request: RequestInit,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<never> {
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  signal?.throwIfAborted();
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(
    () => attempt.abort(new Error(`No response in ${timeoutMs} ms.`)),
    Math.min(timeoutMs, MAX_TIMER_MS),
  );
  let response: Response;
  let text: string;
  try {
    response = await send(url, { ...request, signal: attempt.signal });
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    throw new LocalEventsError('NETWORK_ERROR', 'There is no complete response of the service.', { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
  return readResponse(response, text) as never;
}

function readResponse(response: Response, text: string): unknown {
  const { ok, status, headers } = response;
  if (status === 204 || status === 304) return undefined;
  const type = headers.get('content-type') ?? '';
  if (ok && type.startsWith('text/calendar')) return text;
  const body = type.includes('json') ? parse(text) : undefined;
  if (ok && body) {
    received.set(body, headers);
    return body;
  }
  const { code, message } = body?.error ?? {};
  const error =
    typeof code === 'string'
      ? new LocalEventsError(code, `${message}`, { response, body })
      : new LocalEventsError(
          'UNEXPECTED_RESPONSE',
          `The response is not of a local-events service (status ${status}). Is the baseUrl right?`,
          { response },
        );
  received.set(error, headers);
  throw error;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the service sent
function parse(text: string): any {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

function queryOf(query: object = {}): string {
  const pairs = Object.entries(definedOf(query)).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)]),
  );
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : '';
}

function definedOf(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** Rejects with the reason of the signal, which is not aborted yet. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, Math.min(ms, MAX_TIMER_MS));
    signal?.addEventListener('abort', end);
  });
}
