// The suite's only client. It checks every response against the served /openapi.json, and against the rules for every
// response, before a test sees it. Agents that it registers are deleted at the end.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import { Description, type Exchange } from './description.ts';
import { JsonClient, parseJson, type Query } from './json-client.ts';
import { ADMIN_TOKEN, BASE_URL, READ_KEY } from './settings.ts';
import { exchange, exchangeRaw, type RequestHeaders } from './transport.ts';

export interface Answer extends Exchange {
  /** The parsed body; undefined if there is none or it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  readonly body: any;
}

export interface SendOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged; a list of chunks is sent without a length. */
  readonly raw?: string | Uint8Array | readonly Uint8Array[];
  /** undefined removes one of the client's own headers. */
  readonly headers?: RequestHeaders;
}

const secrets = new Set([READ_KEY, ADMIN_TOKEN]);
const description = new Description(await loadDescription());

/** Part of every e-mail address that this process registers, so that it can clean up. */
export const RUN = `run${randomBytes(6).toString('hex')}`;

export class Client extends JsonClient<Answer> {
  readonly #headers: RequestHeaders;

  constructor(headers: RequestHeaders = {}) {
    super();
    this.#headers = headers;
  }

  async send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const headers: RequestHeaders = { ...this.#headers };
    if (body !== undefined) headers['content-type'] = 'application/json';
    return check(await exchange(method, path, { ...headers, ...options.headers }, body));
  }

  /** A search that must succeed; returns its body. */
  async nearby(query: Query): Promise<Answer['body']> {
    const answer = await this.get('/v1/events/nearby', { lat: 0, lng: 0, ...query });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  /** A create that must succeed; returns the event. */
  async create(event: object): Promise<Answer['body']> {
    const answer = await this.post('/v1/events', event);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  /** A change that must succeed; returns the event. */
  async update(eventId: string, change: object): Promise<Answer['body']> {
    const answer = await this.patch(`/v1/events/${eventId}`, change);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  /** A read that must succeed; returns the event. */
  async read(eventId: string): Promise<Answer['body']> {
    const answer = await this.get(`/v1/events/${eventId}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }
}

/** Without credentials. */
export const anyone = new Client();
/** With the key of the tier read. */
export const reader = new Client({ 'x-api-key': READ_KEY });
export const administrator = new Client({ authorization: `Bearer ${ADMIN_TOKEN}` });

/** An agent that this process registered, calling with its key. */
export class Agent extends Client {
  readonly email: string;
  readonly key: string;

  constructor(email: string, key: string) {
    super({ 'x-api-key': key });
    this.email = email;
    this.key = key;
  }

  /** The agent as administrators see it; undefined once it is deleted. */
  async findSummary(): Promise<Answer['body']> {
    const answer = await administrator.get('/v1/admin/agents');
    assert.equal(answer.status, 200, answer.text);
    return answer.body.agents.find((agent: { email: string }) => agent.email === this.email);
  }

  async id(): Promise<string> {
    return (await this.findSummary()).id;
  }

  /** A rotation that must succeed: the response, and the agent with its new key. */
  async rotate(body?: object): Promise<{ answer: Answer; agent: Agent }> {
    const answer = await this.post('/v1/auth/rotate', body);
    assert.equal(answer.status, 200, answer.text);
    secrets.add(answer.body.api_key);
    return { answer, agent: new Agent(this.email, answer.body.api_key) };
  }
}

let registered = 0;

export async function newAgent(): Promise<Agent> {
  const email = `agent${++registered}@${RUN}.example.com`;
  const answer = await register({ email, agent_name: 'acceptance' });
  assert.equal(answer.status, 200, answer.text);
  return new Agent(email, answer.body.api_key);
}

/** Sends a registration. Its e-mail must contain RUN if it may succeed. */
export async function register(body: unknown, headers: RequestHeaders = {}, query = ''): Promise<Answer> {
  const answer = await anyone.send('POST', `/v1/auth/register${query}`, { body, headers });
  if (answer.status === 200) secrets.add(answer.body.api_key);
  return answer;
}

/** Sends bytes that need not be HTTP, on a new connection. */
export async function sendRaw(bytes: string | Uint8Array): Promise<Answer> {
  return check(await exchangeRaw(bytes));
}

after(async () => {
  const answer = await administrator.get('/v1/admin/agents');
  for (const { id, email } of answer.body.agents) {
    if (email.includes(RUN)) await administrator.delete(`/v1/admin/agents/${id}`);
  }
});

function check(received: Exchange): Answer {
  description.check(received);
  assertHeaders(received);
  const isPage = /^\/(?:openapi|docs)/.test(received.path);
  if (isPage) return { ...received, body: parseJson(received.text) };
  assertDiscreet(received);
  const body = parseJson(received.text);
  assertUtc(body);
  return { ...received, body };
}

/** Asserts what holds for the headers of every response. Pages may be kept by browsers, and invalid HTTP reaches no endpoint. */
function assertHeaders({ method, path, status, text, headers }: Exchange): void {
  const shown = `${method} ${path.slice(0, 200)} → ${status} ${JSON.stringify(headers)}`;
  for (const name of ['server', 'x-powered-by', 'set-cookie']) assert.equal(headers[name], undefined, shown);
  assert.equal(headers['x-content-type-options'], 'nosniff', shown);
  const isDocument = /^\/(?:openapi|docs|admin|favicon|robots)|^\/$/.test(path);
  if (!isDocument) assert.equal(headers['cache-control'], 'no-store', shown);
  const hasBody = status !== 204 && status !== 304;
  if (!hasBody)
    assert.deepEqual([headers['content-type'], headers['content-length']], [undefined, undefined]);
  else if (method !== 'HEAD' && headers['content-length'] !== undefined)
    assert.equal(headers['content-length'], String(Buffer.byteLength(text)), shown);
  const challenge = headers['www-authenticate'];
  if (status !== 401) assert.equal(challenge, undefined, shown);
  else if (path.startsWith('/v1/admin'))
    assert.match(challenge!, /^Bearer realm="local-events"(?:, error="invalid_token")?$/);
  else assert.equal(challenge, 'ApiKey realm="local-events", header="X-API-Key"', shown);
}

/** Asserts that a key appears only in the response to its registration or rotation, and internals appear nowhere. */
function assertDiscreet({ method, path, status, text, headers }: Exchange): void {
  const shown = `${method} ${path.slice(0, 200)} → ${status} ${text.slice(0, 1000)}`;
  const everything = JSON.stringify(headers) + text;
  for (const secret of secrets) assert.ok(!everything.includes(secret), `a secret appears: ${shown}`);
  assert.doesNotMatch(everything, /\n\s+at |\bnode_modules\b|\bsqlite_|\bSELECT .* FROM\b|\.ts:\d+/i, shown);
}

/** Asserts that times in responses are UTC with milliseconds. */
function assertUtc(body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [name, value] of Object.entries(body)) {
    if (name.endsWith('_at') && value !== null) {
      assert.match(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, name);
    } else assertUtc(value);
  }
}

async function loadDescription(): Promise<object> {
  const answer = await exchange('GET', '/openapi.json', {}, undefined).catch((cause: Error) => {
    throw new Error(`Nothing answers at BASE_URL ${BASE_URL}: ${cause.message}`, { cause });
  });
  assert.equal(answer.status, 200, `${BASE_URL}/openapi.json: ${answer.text}`);
  return JSON.parse(answer.text) as object;
}
