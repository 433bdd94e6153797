// A small HTTP client for tests: it sends real requests and returns responses with their parsed bodies.
import assert from 'node:assert/strict';
import http from 'node:http';
import https from 'node:https';
import { JsonClient, parseJson, type Query } from '../acceptance/json-client.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if there is none or it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  readonly body: any;
}

export class Client extends JsonClient<Answer> {
  readonly url: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Record<string, string> = {}) {
    super();
    this.url = url;
    this.headers = headers;
  }

  /** The same client with more headers. */
  with(headers: Record<string, string>): Client {
    return new Client(this.url, { ...this.headers, ...headers });
  }

  async send(
    method: string,
    path: string,
    options: {
      body?: unknown;
      raw?: string | Uint8Array<ArrayBuffer>;
      headers?: Record<string, string>;
    } = {},
  ): Promise<Answer> {
    const headers: Record<string, string> = { accept: '*/*', ...this.headers };
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    if (body !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = `${Buffer.byteLength(body)}`;
    }
    const sent = { method, headers: { ...headers, ...options.headers }, body };
    const { status, headers: received, content } = await request(new URL(this.url + path), sent);
    const text = content.toString();
    return { status, headers: received, text, body: parseJson(text) };
  }

  nearby(query: Query = {}): Promise<Answer> {
    return this.get('/v1/events/nearby', { lat: 0, lng: 0, ...query });
  }

  /** Registers an agent and returns a client that sends its key. */
  async register(name = 'test agent'): Promise<Client> {
    const answer = await this.post('/v1/auth/register', { email: 'agent@example.com', agent_name: name });
    assert.equal(answer.status, 200, answer.text);
    return this.with({ 'x-api-key': answer.body.api_key });
  }

  /** Creates an event and returns it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  async create(fields: Record<string, unknown> = {}): Promise<any> {
    const answer = await this.post('/v1/events', newEvent(fields));
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }
}

/** Idle connections are reused, and end with the process. */
const agents = {
  'http:': new http.Agent({ keepAlive: true }),
  'https:': new https.Agent({ keepAlive: true }),
};

/** Like `fetch`, with half of its CPU time: the suite sends tens of thousands of requests. */
function request(
  url: URL,
  sent: { method: string; headers: Record<string, string>; body: string | Uint8Array | undefined },
): Promise<{ status: number; headers: Headers; content: Buffer }> {
  const { resolve, reject, promise } = Promise.withResolvers<{
    status: number;
    headers: Headers;
    content: Buffer;
  }>();
  const { method, headers, body } = sent;
  const agent = agents[url.protocol as keyof typeof agents];
  const outgoing = (url.protocol === 'https:' ? https : http).request(
    url,
    { method, headers, agent },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const received = new Headers();
        for (const [name, values] of Object.entries(response.headersDistinct))
          for (const value of values!) received.append(name, value);
        resolve({ status: response.statusCode!, headers: received, content: Buffer.concat(chunks) });
      });
    },
  );
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}

let made = 0;

/** A valid body for creating an event; no two are alike. */
export function newEvent(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    title: `event ${++made}`,
    start_at: '2031-05-01T18:00:00Z',
    timezone: 'Europe/Berlin',
    location_name: 'somewhere',
    lat: 52.52,
    lng: 13.405,
    event_type: 'talk',
    ...fields,
  };
}

/** Asserts the status, the code and the envelope of an error. */
export function assertError(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.body.error.code, code, answer.text);
  assert.equal(typeof answer.body.error.message, 'string');
  assert.notEqual(answer.body.error.message, '');
}

/** Asserts a 422 and returns its issues as `loc.loc: type`. */
export function assertInvalid(answer: Answer): string[] {
  assertError(answer, 422, 'VALIDATION_ERROR');
  const detail = answer.body.detail as { loc: (string | number)[]; msg: string; type: string }[];
  assert.ok(detail.length > 0);
  return detail.map((issue) => `${issue.loc.join('.')}: ${issue.type}`);
}
