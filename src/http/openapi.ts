// The OpenAPI description, generated from the schemas that validate requests and from the table of routes.
import type { TObject, TSchema } from 'typebox';
import {
  AdminUserResponse,
  AgentEventsResponse,
  AgentListResponse,
  DeletedResponse,
  EventSelection,
  StatsResponse,
} from '../domain/administration/admin.ts';
import { AuditLogEntry, AuditLogResponse } from '../domain/administration/audit.ts';
import { AgentSummary, AgentUpdate, RegisterRequest, RegisterResponse } from '../domain/agent.ts';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import { Event, EventCreate, EventUpdate } from '../domain/events/event.ts';
import { EventFeature, EventFeatureCollection } from '../domain/events/formats/geojson.ts';
import { LinkedEvent, LinkedEvents } from '../domain/events/formats/json-ld.ts';
import { ReadEvent } from '../domain/events/include.ts';
import { EventsNearbyResponse, FoundEvent } from '../domain/events/nearby.ts';
import {
  KeySummary,
  OwnAgentResponse,
  OwnEventsResponse,
  QuotaSummary,
  RotateRequest,
  WordSummary,
} from '../domain/own-agent.ts';
import { SESSION_COOKIE } from './access/cookies.ts';
import { HEADERS, PREFERENCES } from './described-headers.ts';
import { formatBytes, MAX_BODY_BYTES, MAX_BODY_VALUES } from './request/body.ts';
import { ErrorResponse, ValidationErrorResponse } from './response/errors.ts';
import type { OtherFormat, OtherResponse } from './routes/endpoint.ts';
import {
  HealthErrorResponse,
  HealthResponse,
  LiveResponse,
  ReadyErrorResponse,
  ReadyResponse,
} from './routes/health.ts';
import type { DescribedRoute } from './routes/table.ts';

const API_VERSION = '1.0.0';

const SCHEMAS: Record<string, TSchema> = {
  Event,
  EventCreate,
  EventUpdate,
  RegisterRequest,
  RegisterResponse,
  RotateRequest,
  OwnAgentResponse,
  KeySummary,
  QuotaSummary,
  WordSummary,
  OwnEventsResponse,
  ReadEvent,
  FoundEvent,
  EventsNearbyResponse,
  EventFeature,
  EventFeatureCollection,
  LinkedEvent,
  LinkedEvents,
  AgentSummary,
  AgentUpdate,
  AdminUserResponse,
  AgentListResponse,
  AgentEventsResponse,
  StatsResponse,
  EventSelection,
  DeletedResponse,
  AuditLogEntry,
  AuditLogResponse,
  HealthResponse,
  HealthErrorResponse,
  LiveResponse,
  ReadyResponse,
  ReadyErrorResponse,
  ErrorResponse,
  ValidationErrorResponse,
};
const nameOf = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [JSON.stringify(schema), name]));

type Paths = Record<string, Record<string, object>>;

export function describeApi(routes: readonly DescribedRoute[], baseUrl: string): object {
  const responses: Record<string, object> = {};
  const paths: Paths = {};
  // `paths` has only the versioned interface and /health. Others are described under `components.pathItems`, by their names.
  const pathItems: Paths = {};
  for (const route of routes) {
    const isInterface = route.path.startsWith('/v1/') || route.path === '/health';
    const [items, name] = isInterface ? [paths, route.path] : [pathItems, route.path.slice(1)];
    items[name] ??= {};
    const item = items[name]!;
    item[route.method.toLowerCase()] = describeOperation(route, responses);
    const extras = describeParameters(route.endpoint.extras, 'query');
    if (hasPreferences(route.access)) extras.push(...describeParameters(PREFERENCES, 'header'));
    if (extras.length > 0) item.parameters = extras;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'local-events',
      version: API_VERSION,
      summary: 'In-person events for software agents.',
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => [
          name,
          { ...describeInside(schema), ...exampleIn(schema) },
        ]),
      ),
      responses,
      headers: HEADERS,
      pathItems,
    },
  };
}

const INTRODUCTION = `Register with an e-mail and a name, keep the key that comes back, and send it as \`X-API-Key\`.

Bodies are JSON. Times are RFC 3339; responses use UTC with milliseconds. Distances are great-circle distances in miles.
Every error is \`{"error": {"code", "message"}}\`; a 422 adds \`detail\` with the failing fields, at most 20. Every \`GET\` also supports \`HEAD\`.
Without \`Accept\` and \`format\`, every response is JSON. A short guide for agents is at \`/llms.txt\` (text) and \`/for-agents\` (web page).

Unknown parameters and fields are ignored, and named in \`X-Unknown-Parameters\` and \`X-Unknown-Fields\`. Send \`Prefer: handling=strict\`
with every request to get a 422 instead: otherwise a misspelt filter finds everything.

Models can use the same functions as tools: \`POST /mcp\` is a Model Context Protocol server that lists its tools
(\`tools/list\`). \`components/pathItems/mcp\` in this document describes how to call it.`;

const TAGS = [
  { name: 'Registration', description: 'Get a key.' },
  { name: 'Events', description: 'Search, read, create, change and delete events. Needs a key.' },
  { name: 'Agent', description: 'Your own agent: quota, events and keys. Needs a key.' },
  {
    name: 'Administration',
    description: 'List, change and delete agents and events. Needs an administrator’s token or session.',
  },
  { name: 'Service', description: 'The service itself.' },
];

const SECURITY_SCHEMES = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'The key from registration or rotation.',
  },
  KeyAsBearer: { type: 'http', scheme: 'bearer', description: 'The same key, for `/mcp` only.' },
  AdminToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A token issued by the configured identity provider or by `local-events admin-token`.',
  },
  AdminSession: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The session cookie of an administrator signed in at `/admin`. Without https its name has no `__Host-` prefix. ' +
      'It is valid only for requests from the service’s own pages, and is ignored if a token is sent.',
  },
};

/** Whether `Prefer` has an effect. */
function hasPreferences(access: DescribedRoute['access']): boolean {
  return access !== 'open' && access !== 'mcp';
}

function describeOperation(route: DescribedRoute, shared: Record<string, object>): object {
  const { endpoint, access } = route;
  const { operationId, tag, summary, description, path, query, headers, body, isBodyOptional, response } =
    endpoint;
  const { otherFormats = [], responseHeaders = [], maxBodyBytes = MAX_BODY_BYTES } = endpoint;
  const rateHeaders = isKeyed(access) ? ['RateLimit-Policy', 'RateLimit'] : [];
  const successHeaders = refer([
    ...rateHeaders,
    ...responseHeaders,
    ...(hasPreferences(access) ? ['X-Unknown-Parameters', 'Preference-Applied'] : []),
  ]);
  const parameters = [
    ...describeParameters(path, 'path'),
    ...describeParameters(query, 'query'),
    ...describeParameters(headers, 'header'),
  ];
  const responses: Record<string, object> = response
    ? {
        200: {
          description: 'Success.',
          headers: successHeaders,
          content: { ...json(response, exampleOf(response)), ...describeFormats(otherFormats) },
        },
      }
    : { 204: { description: 'Success. No body.', headers: successHeaders } };
  if (headers && 'If-None-Match' in headers.properties) {
    responses[304] = { description: 'Not modified: you have this version.', headers: successHeaders };
  }
  for (const [status, codes] of groupByStatus(errorsOf(route))) {
    const name = codes.join('.');
    if (status === '503' && endpoint.unavailable) {
      responses[status] = describeError(status, codes, endpoint.unavailable);
      continue;
    }
    shared[name] ??= describeError(status, codes);
    responses[status] = { $ref: `#/components/responses/${name}` };
  }
  for (const [status, other] of Object.entries(endpoint.otherResponses ?? {})) {
    responses[status] = describeOther(other, rateHeaders);
  }
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: SECURITY[access].map((scheme) => ({ [scheme]: [] })),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        description: `At most ${formatBytes(maxBodyBytes)} and ${MAX_BODY_VALUES} JSON values.`,
        required: !isBodyOptional,
        content: json(body, exampleOf(body)),
      },
    }),
    responses,
  };
}

const SECURITY: Readonly<Record<DescribedRoute['access'], readonly (keyof typeof SECURITY_SCHEMES)[]>> = {
  open: [],
  registration: [],
  read: ['ApiKey'],
  key: ['ApiKey'],
  readwrite: ['ApiKey'],
  mcp: ['ApiKey', 'KeyAsBearer'],
  administrator: ['AdminToken', 'AdminSession'],
};

function isKeyed(access: DescribedRoute['access']): boolean {
  return SECURITY[access][0] === 'ApiKey';
}

function describeOther({ description, content = {} }: OtherResponse, headers: readonly string[]): object {
  const described = Object.entries(content).map(([type, schema]) => [type, { schema: describe(schema) }]);
  return {
    description,
    headers: refer(headers),
    ...(described.length > 0 && { content: Object.fromEntries(described) }),
  };
}

/** Error codes of an operation, derived from its access, parameters and body. */
function errorsOf({ endpoint, access }: DescribedRoute): ErrorCode[] {
  const { body, response, errors = [] } = endpoint;
  const codes: ErrorCode[] = ['BAD_REQUEST', 'REQUEST_TIMEOUT', 'URI_TOO_LONG', 'HEADERS_TOO_LARGE'];
  if (isKeyed(access)) codes.push('MISSING_API_KEY', 'INVALID_API_KEY');
  if (access === 'readwrite') codes.push('INSUFFICIENT_TIER');
  if (access === 'administrator') codes.push('MISSING_TOKEN', 'INVALID_TOKEN', 'NOT_AN_ADMIN');
  if (hasPreferences(access)) codes.push('VALIDATION_ERROR');
  if (body || !response) codes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'VALIDATION_ERROR');
  if (access !== 'open') codes.push('RATE_LIMITED', 'OVERLOADED');
  codes.push(...errors, 'INTERNAL_ERROR', 'UNAVAILABLE');
  return [...new Set(codes)];
}

function groupByStatus(codes: readonly ErrorCode[]): [string, ErrorCode[]][] {
  const groups = Map.groupBy(codes, (code) => String(ERRORS[code].status));
  return [...groups].sort(([a], [b]) => Number(a) - Number(b));
}

function describeError(status: string, codes: readonly ErrorCode[], special?: TSchema): object {
  const headers = ['X-Request-Id'];
  if (status === '401') headers.push('WWW-Authenticate');
  if (status === '429') headers.push('RateLimit-Policy', 'RateLimit');
  if (status === '429' || status === '503') headers.push('Retry-After');
  if (AFTER_ACCESS.includes(status) && !special)
    headers.push('X-Unknown-Parameters', 'X-Unknown-Fields', 'Preference-Applied');
  const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleError(code) }]));
  const schema = special ?? (codes.includes('VALIDATION_ERROR') ? ValidationErrorResponse : ErrorResponse);
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
    headers: refer(headers),
    content: { 'application/json': { schema: describe(schema), ...(!special && { examples }) } },
  };
}

/** Statuses of errors that come after the access check: only those responses can name what was ignored. */
const AFTER_ACCESS = ['404', '409', '412', '413', '415', '422', '500', '503'];

function exampleError(code: ErrorCode): object {
  const error = { code, message: ERRORS[code].meaning };
  if (code !== 'VALIDATION_ERROR') return { error };
  const issue = { loc: ['body', 'title'], msg: 'is required', type: 'missing' };
  return { error: { code, message: 'body.title: is required' }, detail: [issue] };
}

function describeParameters(shape: TObject | undefined, place: 'path' | 'query' | 'header'): object[] {
  if (!shape) return [];
  return Object.entries(shape.properties).map(([name, field]) => {
    const { description, examples, ...schema } = field as Record<string, unknown>;
    return {
      name,
      in: place,
      required: place === 'path' || (shape.required as string[] | undefined)?.includes(name) === true,
      description,
      schema,
      ...(Array.isArray(examples) && { example: examples[0] }),
    };
  });
}

function json(schema: TSchema, example: unknown): object {
  return { 'application/json': { schema: describe(schema), ...(example !== undefined && { example }) } };
}

function describeFormats(formats: readonly OtherFormat[]): object {
  return Object.fromEntries(
    formats.map(({ contentType, schema, example }) => [
      contentType.split(';', 1)[0],
      { schema: describe(schema), example },
    ]),
  );
}

function refer(headers: readonly string[]): object {
  const names = new Set(['X-Request-Id', ...headers]);
  return Object.fromEntries([...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Returns the schema, with each named schema in it replaced by a reference. */
function describe(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = nameOf.get(JSON.stringify(schema));
  return name === undefined ? describeInside(schema) : { $ref: `#/components/schemas/${name}` };
}

function describeInside(schema: object): object {
  if (Array.isArray(schema)) return schema.map(describe);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, describe(value)]));
}

function exampleIn(schema: TSchema): object {
  const example = exampleOf(schema);
  return example === undefined ? {} : { examples: [example] };
}

/** Composes an example from the examples of the fields; undefined if a required field has none. */
function exampleOf(schema: unknown): unknown {
  const {
    type,
    properties,
    required = [],
    examples,
    items,
  } = schema as {
    type?: string;
    properties?: Record<string, unknown>;
    required?: string[];
    examples?: unknown[];
    items?: unknown;
  };
  if (examples) return examples[0];
  if (type === 'array') {
    const item = exampleOf(items);
    return item === undefined ? undefined : [item];
  }
  if (type !== 'object' || !properties) return undefined;
  const entries = Object.entries(properties).map(([name, field]) => [name, exampleOf(field)] as const);
  const known = entries.filter(([, value]) => value !== undefined);
  if (required.some((name) => !known.some(([field]) => field === name))) return undefined;
  return Object.fromEntries(known);
}
