// Invalid and odd requests to every route, made from the values of fuzz-values.ts.
import { METHODS } from 'node:http';
import fc from 'fast-check';
import { anyText } from '../support/any-text.ts';
import { newEvent } from '../support/client.ts';
import * as odd from './fuzz-values.ts';

export interface FuzzRequest {
  readonly method: string;
  /** Path and query, one character per byte. */
  readonly target: string;
  readonly headers: readonly odd.Header[];
  readonly body: Buffer | undefined;
}

/** What the requests may contain: existing IDs, headers that authenticate, and keys to put where none belongs. */
export interface Material {
  readonly eventIds: readonly string[];
  readonly agentIds: readonly string[];
  readonly credentials: readonly Readonly<Record<string, string>>[];
  readonly keys: readonly string[];
}

/** The bytes of the request, with the Content-Length of its body. */
export function encode({ method, target, headers, body }: FuzzRequest): Buffer {
  const length = body ? [['Content-Length', String(body.length)]] : [];
  const lines = [['Host', 'localhost'], ...headers, ...length].map((line) => `${line.join(': ')}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return body ? Buffer.concat([head, body]) : head;
}

/** Fields without free text: a key in one of them must be refused and must not be repeated in the response. */
const PICKY = /^(?:lat|lng|start_at|end_at|timezone|audience|event_type|is_active|tier|overlap_seconds)$/;

/** JSON of an object with fields removed, replaced, repeated or added. */
function mutations(base: () => object, keys: readonly string[]): fc.Arbitrary<string> {
  const names = Object.keys(base());
  const name = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    { weight: 2, arbitrary: fc.constantFrom(...odd.ODD_NAMES) },
    { weight: 1, arbitrary: anyText({ maxLength: 10 }) },
  );
  const leaking = fc.constantFrom(...names.filter((field) => PICKY.test(field)), 'x_key');
  const change = fc.oneof(
    { weight: 8, arbitrary: fc.tuple(name, odd.jsonValue) },
    { weight: 2, arbitrary: fc.tuple(name, fc.constant(undefined)) },
    {
      weight: 1,
      arbitrary: fc.tuple(
        leaking,
        fc.constantFrom(...keys).map((key) => `"${key}"`),
      ),
    },
  );
  return fc.tuple(fc.array(change, { maxLength: 4 }), fc.boolean()).map(([changes, repeat]) => {
    let pairs = Object.entries(base()).map(([field, value]) => [field, JSON.stringify(value)]);
    for (const [field, value] of changes) {
      if (value === undefined || !repeat) pairs = pairs.filter(([found]) => found !== field);
      if (value !== undefined) pairs.push([field, value]);
    }
    return `{${pairs.map(([field, value]) => `${JSON.stringify(field)}:${value}`).join(',')}}`;
  });
}

/** Mostly mutations of the object, sometimes not JSON at all. */
function bodies(base: () => object, keys: readonly string[]): fc.Arbitrary<Buffer> {
  const text = mutations(base, keys);
  const deep = fc.constantFrom(...odd.DEEP);
  const bytes = (arbitrary: fc.Arbitrary<string>, encoding: BufferEncoding = 'utf8') =>
    arbitrary.map((json) => Buffer.from(json, encoding));
  return fc.oneof(
    { weight: 30, arbitrary: bytes(text) },
    { weight: 3, arbitrary: bytes(fc.tuple(text, fc.nat(200)).map(([json, end]) => json.slice(0, end))) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((random) => Buffer.from(random)) },
    { weight: 1, arbitrary: bytes(text, 'utf16le') },
    { weight: 1, arbitrary: bytes(text.map((json) => `\ufeff${json}`)) },
    // A lone surrogate as three bytes, which is not UTF-8.
    {
      weight: 1,
      arbitrary: bytes(
        text.map((json) => json.replace('e', '\xed\xa0\x80')),
        'latin1',
      ),
    },
    { weight: 1, arbitrary: bytes(odd.jsonValue) },
    { weight: 1, arbitrary: bytes(deep) },
    { weight: 1, arbitrary: bytes(deep.map((json) => `{"title":${json},"email":${json},"more":${json}}`)) },
  );
}

type Shape = readonly [method: string, target: fc.Arbitrary<string>, body?: fc.Arbitrary<Buffer>];

function shapes({ eventIds, agentIds, keys }: Material): readonly Shape[] {
  const ofEvent = odd.targetValue(eventIds, keys).map((id) => `/v1/events/${id}`);
  const ofAgent = odd.targetValue(agentIds, keys).map((id) => `/v1/admin/agents/${id}`);
  const listQuery = (path: string) => odd.listQueries(keys).map((query) => path + query);
  const withQuery = (path: string) => odd.queries(keys).map((query) => path + query);
  const event = () => newEvent({ description: 'd', end_at: '2031-05-01T20:00:00Z', audience: 'all' });
  const eventBodies = bodies(event, keys);
  return [
    ['GET', withQuery('/health')],
    [
      'POST',
      withQuery('/v1/auth/register'),
      bodies(() => ({ email: 'a@example.com', agent_name: 'a' }), keys),
    ],
    [
      'POST',
      withQuery('/v1/auth/rotate'),
      bodies(() => ({ overlap_seconds: 86_400 }), keys).filter(isHarmless),
    ],
    ['GET', withQuery('/v1/agents/me')],
    ['GET', listQuery('/v1/agents/me/events')],
    ['GET', withQuery('/v1/agents/me/grants')],
    ['DELETE', withQuery('/v1/agents/me/grants')],
    ['DELETE', odd.targetValue(agentIds, keys).map((id) => `/v1/agents/me/grants/${id}`)],
    ['GET', withQuery('/v1/events/nearby')],
    ['GET', ofEvent],
    ['GET', ofEvent.chain((path) => withQuery(path))],
    ['POST', withQuery('/v1/events'), eventBodies],
    ['PATCH', ofEvent, eventBodies],
    ['DELETE', ofEvent],
    ['GET', withQuery('/v1/admin/me')],
    ['GET', listQuery('/v1/admin/agents')],
    ['GET', listQuery('/v1/admin/audit')],
    ['GET', withQuery('/v1/admin/stats')],
    ['GET', withQuery('/v1/admin/activity')],
    ['PATCH', ofAgent, bodies(() => ({ is_active: true, tier: 'read' }), keys)],
    ['DELETE', ofAgent],
    ['GET', ofAgent.chain((path) => listQuery(`${path}/events`))],
    [
      'POST',
      ofAgent.map((path) => `${path}/events/delete`),
      bodies(() => ({ event_ids: eventIds.slice(0, 3) }), keys),
    ],
    ['DELETE', ofAgent.map((path) => `${path}/events`)],
    ['DELETE', ofEvent.map((path) => path.replace('/v1', '/v1/admin'))],
    ['GET', fc.constantFrom(...odd.ODD_TARGETS)],
    ['GET', odd.rawText.map((path) => `/${path}`)],
  ];
}

/** Whether a rotation with this body keeps the key valid for as long as the test runs, or is refused. */
function isHarmless(body: Buffer): boolean {
  try {
    const { overlap_seconds = 3_600 } = JSON.parse(body.toString()) as { overlap_seconds?: unknown };
    return !(Number(overlap_seconds) < 3_600);
  } catch {
    return true;
  }
}

export function fuzzRequests(material: Material): fc.Arbitrary<FuzzRequest> {
  const none = fc.constant(undefined);
  const shape = fc.oneof(
    ...shapes(material).map(([method, target, body = none]) => fc.tuple(fc.constant(method), target, body)),
  );
  const otherMethod = fc.oneof(
    { weight: 20, arbitrary: none },
    { weight: 1, arbitrary: fc.constantFrom(...METHODS, 'get', 'FOO', 'G ET') },
  );
  const oddHeaders = fc.oneof(
    { weight: 14, arbitrary: fc.constant<odd.Header[]>([]) },
    { weight: 3, arbitrary: fc.array(fc.constantFrom(...odd.ODD_HEADERS), { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: odd.rawText.map((value): odd.Header[] => [['X-Odd', value]]) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...material.keys).map((key): odd.Header[] => [['User-Agent', key]]),
    },
  );
  return fc
    .tuple(shape, otherMethod, fc.constantFrom(...material.credentials), oddHeaders)
    .map(([[method, target, body], other, credentials, more]) => {
      const usual = Object.entries({ ...credentials, ...(body && { 'Content-Type': 'application/json' }) });
      const replaced = new Set(more.map(([name]) => name));
      const headers = [...usual.filter(([name]) => !replaced.has(name)), ...more];
      return { method: other ?? method, target, headers, body };
    });
}
