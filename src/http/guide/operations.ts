// Operations: what callers can do and what follows from each route and its shapes. Read here once for the OpenAPI description, /docs and
// the guide, so that these agree. Each of them decides how it shows an operation.
import type { TObject, TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import { formatBytes, MAX_BODY_BYTES, MAX_BODY_VALUES } from '../request/body.ts';
import { type DescribedRoute, type Description, PREFERENCES, TAGS } from './description.ts';

export interface Operation extends DescribedRoute {
  /** Whether it belongs to the versioned interface; the other operations are only in the OpenAPI description. */
  readonly isInterface: boolean;
  readonly caller: Caller;
  /** Whether it works without a key, too. */
  readonly isPublic: boolean;
  /** Whether unknown parameters and fields are named, and `Prefer` has an effect. */
  readonly hasPreferences: boolean;
  readonly parameters: readonly Parameter[];
  /** Those that the OpenAPI description has on the path: parameters beyond the contract, and `Prefer`. */
  readonly extraParameters: readonly Parameter[];
  readonly body: Body | undefined;
  /** Example of the JSON response. */
  readonly example: unknown;
  readonly successes: readonly (readonly [status: number, meaning: string])[];
  /** Error codes by status, in ascending order. */
  readonly errors: readonly (readonly [status: number, codes: readonly ErrorCode[]])[];
}

/** Whose credential an operation needs. */
export type Caller = 'anyone' | 'key' | 'token';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: Schema;
  readonly example: unknown;
}

interface Body {
  readonly description: string;
  readonly isRequired: boolean;
  readonly shape: TObject;
  readonly example: unknown;
}

/** The keywords of a schema that are shown. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** In the order of the routes. `readsPublicly`: whether reading needs no key. */
export function operationsOf(routes: readonly DescribedRoute[], readsPublicly = false): Operation[] {
  return routes.map((route) => {
    const { path, access } = route;
    const isPublic = readsPublicly && access === 'public';
    const endpoint = isPublic ? withoutKey(route.endpoint) : route.endpoint;
    const hasPreferences = access !== 'open' && access !== 'mcp';
    return {
      ...route,
      endpoint,
      isInterface: path.startsWith('/v1/') || path === '/health',
      caller: CALLERS[access],
      isPublic,
      hasPreferences,
      parameters: [
        ...readParameters(endpoint.path, 'path'),
        ...readParameters(endpoint.query, 'query'),
        ...readParameters(endpoint.headers, 'header'),
      ],
      extraParameters: [
        ...readParameters(endpoint.extras, 'query'),
        ...readParameters(hasPreferences ? PREFERENCES : undefined, 'header'),
      ],
      body: endpoint.body && {
        description: `At most ${formatBytes(endpoint.maxBodyBytes ?? MAX_BODY_BYTES)} and ${MAX_BODY_VALUES} JSON values.`,
        isRequired: !endpoint.isBodyOptional,
        shape: endpoint.body,
        example: exampleOf(endpoint.body),
      },
      example: endpoint.response && exampleOf(endpoint.response),
      successes: successesOf(endpoint),
      errors: byStatus(errorsOf(route, hasPreferences)),
    };
  });
}

const CALLERS: Readonly<Record<DescribedRoute['access'], Caller>> = {
  open: 'anyone',
  registration: 'anyone',
  read: 'key',
  public: 'key',
  key: 'key',
  readwrite: 'key',
  mcp: 'key',
  administrator: 'token',
};

function withoutKey(endpoint: Description): Description {
  const { description } = endpoint;
  return {
    ...endpoint,
    description: `${description} Needs no key: without one, the request counts against the quota of your network.`,
  };
}

export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** The tags, for these operations. */
export function tagsOf(operations: readonly Operation[]): Pick<Group, 'name' | 'description'>[] {
  return TAGS.map(({ name, description }) => {
    const hasPublic = operations.some(({ isPublic, endpoint }) => isPublic && endpoint.tag === name);
    return {
      name,
      description: hasPublic
        ? description.replace(/\.$/, ', unless an operation says otherwise.')
        : description,
    };
  });
}

/** The operations of the interface by tag. */
export function groupsOf(operations: readonly Operation[]): Group[] {
  return tagsOf(operations).map(({ name, description }) => {
    const own = operations.filter(({ isInterface, endpoint }) => isInterface && endpoint.tag === name);
    return { name, description, operations: own };
  });
}

/** All error codes of an operation. */
export function codesOf({ errors }: Operation): ErrorCode[] {
  return errors.flatMap(([, codes]) => codes);
}

function readParameters(shape: TObject | undefined, place: Parameter['in']): Parameter[] {
  const { properties = {}, required = [] }: Schema = shape ?? {};
  return Object.entries(properties).map(([name, { description, examples, ...schema }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    description,
    schema,
    example: examples?.[0],
  }));
}

function successesOf({ response, headers }: Description): [number, string][] {
  const successes: [number, string][] = [response ? [200, 'Success.'] : [204, 'Success. No body.']];
  if (headers?.properties['If-None-Match']) successes.push([304, 'Not modified: you have this version.']);
  return successes;
}

/** Error codes of an operation, derived from its access, parameters and body. */
function errorsOf({ endpoint, access }: DescribedRoute, hasPreferences: boolean): Set<ErrorCode> {
  const { body, response, errors = [] } = endpoint;
  const codes: ErrorCode[] = ['BAD_REQUEST', 'REQUEST_TIMEOUT', 'URI_TOO_LONG', 'HEADERS_TOO_LARGE'];
  if (CALLERS[access] === 'key') codes.push('MISSING_API_KEY', 'INVALID_API_KEY');
  if (access === 'readwrite') codes.push('INSUFFICIENT_TIER');
  if (access === 'administrator') codes.push('MISSING_TOKEN', 'INVALID_TOKEN', 'NOT_AN_ADMIN');
  if (hasPreferences) codes.push('VALIDATION_ERROR');
  if (body || !response) codes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'VALIDATION_ERROR');
  if (access !== 'open') codes.push('RATE_LIMITED', 'OVERLOADED');
  codes.push(...errors, 'INTERNAL_ERROR', 'UNAVAILABLE');
  return new Set(codes);
}

function byStatus(codes: Iterable<ErrorCode>): [number, ErrorCode[]][] {
  return [...Map.groupBy(codes, (code) => ERRORS[code].status)].sort(([a], [b]) => a - b);
}

/** Composes an example from the examples of the fields; undefined if a required field has none. */
export function exampleOf(shape: TSchema): unknown {
  const { type, properties, required = [], examples, items } = shape as Schema;
  if (examples) return examples[0];
  if (type === 'array') {
    const item = exampleOf(items!);
    return item === undefined ? undefined : [item];
  }
  if (type !== 'object' || !properties) return undefined;
  const entries = Object.entries(properties).map(([name, field]) => [name, exampleOf(field)] as const);
  const known = entries.filter(([, value]) => value !== undefined);
  if (required.some((name) => !known.some(([field]) => field === name))) return undefined;
  return Object.fromEntries(known);
}

/** Limits in words. */
export function rangeOf(least: number | undefined, most: number | undefined, unit = ''): string[] {
  if (least === undefined && most === undefined) return [];
  if (most === undefined) return [`at least ${least}${unit}`];
  return [least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`];
}
