// Documents in which OAuth clients describe themselves at the URL that is their client ID (CIMD). Fetches them within limits, and remembers
// them. What their redirect URIs may be is left to others.
import type { Clock } from '../domain/clock-and-random.ts';
import { AppError } from '../domain/errors.ts';
import type { ClientDocument, ClientDocumentFinder } from '../domain/oauth-access.ts';
import type { Store } from '../domain/store.ts';
import { FAILURES, type Fetched, type Outbound } from '../outbound/outbound.ts';

export interface ClientDocumentsOptions {
  readonly outbound: Pick<Outbound, 'get'>;
  readonly store: Pick<Store, 'spend'>;
  readonly clock: Clock;
}

const LIMITS = { timeoutMs: 3_000, maxBytes: 5_120, accept: 'application/json' };
const MAX_URL_LENGTH = 1_000;
/** Of what a client calls itself. */
export const MAX_NAME_LENGTH = 200;
const MAX_REDIRECT_URIS = 50;

/** Fetches that a network may cause per hour. */
const FETCHES_PER_HOUR = 30;
/** Fetches at the same time: in all, and those of one network, so that slow hosts cannot keep other networks waiting. */
const MAX_FETCHES = { shared: 10, perNetwork: 3 } as const;

const MAX_REMEMBERED = 1_000;
const FAILURE_MS = 60_000;
/** Within these bounds, `Cache-Control` says how long a document is remembered. */
const DOCUMENT_MS = { min: 300_000, max: 86_400_000 } as const;

/** A document that is being fetched, or whose outcome is remembered. */
interface Entry {
  /** The network that caused the fetch. */
  readonly network: string;
  readonly document: Promise<ClientDocument>;
  /** Infinity while it is being fetched. */
  expiresMs: number;
}

export class ClientDocuments implements ClientDocumentFinder {
  readonly #options: ClientDocumentsOptions;
  /** By client ID; first the one that was used longest ago. */
  readonly #entries = new Map<string, Entry>();
  /** Networks of the fetches in progress. */
  readonly #fetching: string[] = [];

  constructor(options: ClientDocumentsOptions) {
    this.#options = options;
  }

  /**
   * The document of the client, for somebody in this network. Throws VALIDATION_ERROR if there is no valid one, RATE_LIMITED, or
   * OVERLOADED. The messages are for people.
   */
  async find(clientId: string, network: string): Promise<ClientDocument> {
    requireDocumentUrl(clientId);
    const known = this.#entries.get(clientId);
    if (!known || known.expiresMs <= this.#options.clock()) return this.#fetch(clientId, network);
    this.#remember(clientId, known);
    return known.document.catch((error: unknown) => {
      // That was the quota of another network.
      if (codeOf(error) === 'RATE_LIMITED' && known.network !== network) return this.find(clientId, network);
      throw error;
    });
  }

  #fetch(clientId: string, network: string): Promise<ClientDocument> {
    const ofNetwork = this.#fetching.filter((other) => other === network).length;
    if (this.#fetching.length >= MAX_FETCHES.shared || ofNetwork >= MAX_FETCHES.perNetwork) {
      throw new AppError('OVERLOADED', 'Too many documents of clients are being fetched. Retry in 3 s.', {
        retryAfterSeconds: 3,
      });
    }
    this.#fetching.push(network);
    const fetching = this.#fetchWithinQuota(clientId, network);
    const document = fetching.then((fetched) => fetched.document);
    const entry: Entry = { network, document, expiresMs: Number.POSITIVE_INFINITY };
    this.#remember(clientId, entry);
    const keep = (ms: number) => {
      this.#fetching.splice(this.#fetching.indexOf(network), 1);
      entry.expiresMs = this.#options.clock() + ms;
    };
    fetching.then(
      ({ keepMs }) => keep(keepMs),
      (error: unknown) => keep(codeOf(error) === 'VALIDATION_ERROR' ? FAILURE_MS : 0),
    );
    return document;
  }

  async #fetchWithinQuota(clientId: string, network: string) {
    const { outbound, store, clock } = this.#options;
    const nowMs = clock();
    const quota = await store.spend(`client-document ${network}`, FETCHES_PER_HOUR, 1, nowMs);
    if (!quota.allowed) throw rateLimited(quota.resetMs - nowMs);
    return readDocument(clientId, await outbound.get('client', clientId, LIMITS));
  }

  #remember(clientId: string, entry: Entry): void {
    this.#entries.delete(clientId);
    this.#entries.set(clientId, entry);
    if (this.#entries.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest!);
  }
}

function codeOf(error: unknown) {
  return error instanceof AppError ? error.code : undefined;
}

function rateLimited(resetMs: number): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(resetMs / 1000));
  return new AppError(
    'RATE_LIMITED',
    `Your network has caused ${FETCHES_PER_HOUR} fetches of clients' documents within an hour, the maximum. Retry in ${retryAfterSeconds} s.`,
    { retryAfterSeconds, refusedBy: 'quota client_documents' },
  );
}

/** The URL must be written as it is requested, because clients are told apart by it. Throws VALIDATION_ERROR. */
function requireDocumentUrl(clientId: string): void {
  const url = clientId.length <= MAX_URL_LENGTH ? URL.parse(clientId) : null;
  const isPlain =
    url?.href === clientId && !/#|\?$/.test(clientId) && url.username === '' && url.password === '';
  if (isPlain && url.protocol === 'https:' && url.pathname !== '/') return;
  throw new AppError(
    'VALIDATION_ERROR',
    `The client's ID is not the URL of a document. That is an https URL with a path, of at most ${MAX_URL_LENGTH} characters, ` +
      'without "..", default port, user name, fragment or empty query.',
  );
}

/** The document, and how long to remember it. Throws VALIDATION_ERROR. */
function readDocument(clientId: string, fetched: Fetched): { document: ClientDocument; keepMs: number } {
  if (fetched.kind === 'failed') throw noDocument(FAILURES[fetched.reason]);
  const { status, headers, bytes } = fetched;
  if (status !== 200) throw noDocument(`its host returned status ${status}`);
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw noDocument('its Content-Type is not application/json');
  }
  const document = parse(bytes);
  const { client_id, client_name = '', redirect_uris } = document;
  if (client_id !== clientId) throw badDocument('its client_id is not its own URL');
  if (!isClientName(client_name)) {
    throw badDocument(`its client_name must be a text of at most ${MAX_NAME_LENGTH} characters, without NUL`);
  }
  if (!isListOfTexts(redirect_uris)) {
    throw badDocument(`its redirect_uris must be a list of 1 to ${MAX_REDIRECT_URIS} URLs`);
  }
  if (!needsNoSecret(document)) {
    throw badDocument(
      'its token_endpoint_auth_method must be "none", or token_endpoint_auth_methods_supported must list that',
    );
  }
  return {
    document: { clientId, name: client_name || undefined, redirectUris: redirect_uris },
    keepMs: readMaxAge(headers['cache-control']),
  };
}

function parse(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    throw badDocument('it is not JSON');
  }
}

/** PostgreSQL cannot store NUL. */
export function isClientName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH && !value.includes('\0');
}

function isListOfTexts(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_REDIRECT_URIS) return false;
  return value.every((item) => typeof item === 'string');
}

/**
 * Whether the client can be a public one. A document is the same for every server, so the method is only what the client prefers: ChatGPT
 * names "private_key_jwt", and lists "none" beside it.
 */
function needsNoSecret(document: Readonly<Record<string, unknown>>): boolean {
  const { token_endpoint_auth_method: preferred = 'none', token_endpoint_auth_methods_supported: others } =
    document;
  return preferred === 'none' || (Array.isArray(others) && others.includes('none'));
}

function readMaxAge(cacheControl = ''): number {
  const seconds = /(?:^|[\s,])max-age="?(\d+)/i.exec(cacheControl)?.[1] ?? 0;
  const mayStore = !/(?:^|[\s,])no-(?:store|cache)\b/i.test(cacheControl);
  return Math.min(Math.max(mayStore ? Number(seconds) * 1000 : 0, DOCUMENT_MS.min), DOCUMENT_MS.max);
}

function noDocument(reason: string): AppError {
  return new AppError('VALIDATION_ERROR', `The client's document could not be fetched: ${reason}.`);
}

function badDocument(reason: string): AppError {
  return new AppError('VALIDATION_ERROR', `The client's document is not valid: ${reason}.`);
}
