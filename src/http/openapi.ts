// The OpenAPI description: operations and their shapes as JSON. Shapes that have a name (`nameShapes`) are under `components.schemas`.
import type { TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import { nameOf } from '../domain/schema.ts';
import { SESSION_COOKIE } from './access/cookies.ts';
import {
  type Description,
  HEADERS,
  type HeaderName,
  INTRODUCTION,
  type OtherResponse,
} from './guide/description.ts';
import { exampleOf, type Operation, tagsOf } from './guide/operations.ts';
import { ErrorResponse, ValidationErrorResponse } from './response/errors.ts';

const API_VERSION = '1.0.0';

/** Named shapes in the order of version 1.0.0 of the interface. All others follow, in the order in which operations use them. */
const FIRST_SCHEMAS = `
Event EventCreate EventUpdate RegisterRequest RegisterResponse RotateRequest OwnAgentResponse KeySummary QuotaSummary WordSummary
OwnEventsResponse ReadEvent FoundEvent EventsNearbyResponse EventFeature EventFeatureCollection LinkedEvent LinkedEvents
AgentSummary AgentUpdate AdminUserResponse AgentListResponse AgentEventsResponse StatsResponse EventSelection DeletedResponse
AuditLogEntry AuditLogResponse HealthResponse HealthErrorResponse LiveResponse ReadyResponse ReadyErrorResponse
ErrorResponse ValidationErrorResponse`
  .trim()
  .split(/\s+/);

/** Statuses of errors that come after the access check: only those responses can name what was ignored. */
const AFTER_ACCESS: readonly number[] = [404, 409, 412, 413, 415, 422, 500, 503];

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

export function describeApi(operations: readonly Operation[], baseUrl: string): object {
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  const pathItems: typeof paths = {};
  for (const operation of operations) {
    const { path, method, isInterface, extraParameters } = operation;
    const [items, name] = isInterface ? [paths, path] : [pathItems, path.slice(1)];
    items[name] ??= {};
    const item = items[name];
    item[method.toLowerCase()] = describeOperation(operation, components);
    if (extraParameters.length > 0) item.parameters = extraParameters;
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
    tags: tagsOf(operations),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: components.schemas(),
      responses: components.responses,
      headers: HEADERS,
      pathItems,
    },
  };
}

function describeOperation(operation: Operation, components: Components): object {
  const { endpoint, access, caller, isPublic, parameters, body, successes, errors } = operation;
  const { operationId, tag, summary, description, response, responseHeaders = [] } = endpoint;
  const rateHeaders: HeaderName[] = caller === 'key' ? ['RateLimit-Policy', 'RateLimit'] : [];
  const ignored: HeaderName[] = operation.hasPreferences
    ? ['X-Unknown-Parameters', 'Preference-Applied']
    : [];
  const headers = refer([...rateHeaders, ...responseHeaders, ...ignored]);
  const content = response && {
    ...components.json(response, operation.example),
    ...describeFormats(endpoint, components),
  };
  const responses: Record<string, object> = {};
  for (const [status, meaning] of successes) {
    responses[status] = { description: meaning, headers, content: status === 200 ? content : undefined };
  }
  for (const [status, codes] of errors) {
    const special = status === 503 ? endpoint.unavailable : undefined;
    responses[status] = components.error(status, codes, special);
  }
  for (const [status, other] of Object.entries(endpoint.otherResponses ?? {})) {
    responses[status] = components.other(other, refer(rateHeaders));
  }
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: [...SECURITY[access].map((scheme) => ({ [scheme]: [] })), ...(isPublic ? [{}] : [])],
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody: body && {
      description: body.description,
      required: body.isRequired,
      content: components.json(body.shape, body.example),
    },
    responses,
  };
}

const SECURITY: Readonly<Record<Operation['access'], readonly (keyof typeof SECURITY_SCHEMES)[]>> = {
  open: [],
  registration: [],
  read: ['ApiKey'],
  public: ['ApiKey'],
  key: ['ApiKey'],
  readwrite: ['ApiKey'],
  mcp: ['ApiKey', 'KeyAsBearer'],
  administrator: ['AdminToken', 'AdminSession'],
};

function describeFormats({ otherFormats = [] }: Description, components: Components): object {
  return Object.fromEntries(
    otherFormats.map(({ contentType, schema, example }) => [
      contentType.split(';', 1)[0],
      { schema: components.describe(schema), example },
    ]),
  );
}

function refer(headers: readonly HeaderName[]): object {
  const names = new Set(['X-Request-Id', ...headers]);
  return Object.fromEntries([...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** What operations refer to, collected while they are described. */
class Components {
  readonly responses: Record<string, object> = {};
  readonly #schemas = new Map<string, object | undefined>(FIRST_SCHEMAS.map((name) => [name, undefined]));

  schemas(): object {
    return Object.fromEntries(this.#schemas);
  }

  /** Returns the shape, with each named shape in it replaced by a reference. */
  describe(shape: unknown): unknown {
    if (typeof shape !== 'object' || shape === null) return shape;
    const name = nameOf(shape);
    if (name === undefined) return this.#describeInside(shape);
    if (!this.#schemas.get(name)) {
      const example = exampleOf(shape);
      const examples = example === undefined ? undefined : [example];
      this.#schemas.set(name, { ...this.#describeInside(shape), ...(examples && { examples }) });
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #describeInside(shape: object): object {
    if (Array.isArray(shape)) return shape.map((item) => this.describe(item));
    return Object.fromEntries(Object.entries(shape).map(([key, value]) => [key, this.describe(value)]));
  }

  json(shape: TSchema, example: unknown): object {
    return { 'application/json': { schema: this.describe(shape), example } };
  }

  other({ description, content }: OtherResponse, headers: object): object {
    const schemas = Object.entries(content ?? {}).map(([type, shape]) => [
      type,
      { schema: this.describe(shape) },
    ]);
    return { description, headers, content: content && Object.fromEntries(schemas) };
  }

  /** The response with these errors; `special` is its schema, if it is not the usual one. Others are shared, by their codes. */
  error(status: number, codes: readonly ErrorCode[], special: TSchema | undefined): object {
    if (special) return this.#describeError(status, codes, special);
    const name = codes.join('.');
    this.responses[name] ??= this.#describeError(status, codes);
    return { $ref: `#/components/responses/${name}` };
  }

  #describeError(status: number, codes: readonly ErrorCode[], special?: TSchema): object {
    const headers: HeaderName[] = [];
    if (status === 401) headers.push('WWW-Authenticate');
    if (status === 429) headers.push('RateLimit-Policy', 'RateLimit');
    if (status === 429 || status === 503) headers.push('Retry-After');
    if (AFTER_ACCESS.includes(status) && !special)
      headers.push('X-Unknown-Parameters', 'X-Unknown-Fields', 'Preference-Applied');
    const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleError(code) }]));
    const usual = codes.includes('VALIDATION_ERROR') ? ValidationErrorResponse : ErrorResponse;
    const schema = this.describe(special ?? usual);
    return {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
      headers: refer(headers),
      content: { 'application/json': { schema, examples: special ? undefined : examples } },
    };
  }
}

function exampleError(code: ErrorCode): object {
  const error = { code, message: ERRORS[code].meaning };
  if (code !== 'VALIDATION_ERROR') return { error };
  const issue = { loc: ['body', 'title'], msg: 'is required', type: 'missing' };
  return { error: { code, message: 'body.title: is required' }, detail: [issue] };
}
