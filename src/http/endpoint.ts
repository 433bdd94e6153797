// The Endpoint type: an endpoint's description, who may call it, and its handler. server.ts assigns methods and paths.
import type { IncomingHttpHeaders } from 'node:http';
import type { TObject, TSchema } from 'typebox';
import type { Identity } from '../domain/admin.ts';
import type { AgentRow } from '../domain/agent.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Wire } from '../domain/wire.ts';
import type { KeyHolder } from '../usecases/access.ts';
import type { Context } from '../usecases/context.ts';
import type { RequestClient } from './admission/request-client.ts';
import type { Query } from './request/query.ts';
import type { Format } from './response/formats.ts';

/** The type of the caller for each kind of access. */
interface Callers {
  /** No key needed. The caller is the client's network; forwarded addresses count only from trusted proxies. */
  registration: string;
  read: AgentRow;
  /** Like `read`, but the endpoint also learns which key was used. */
  key: KeyHolder;
  readwrite: AgentRow;
  administrator: Identity;
}
export type Access = keyof Callers;

export interface Call<Caller = unknown> {
  readonly context: Context;
  readonly caller: Caller;
  /** Path parameters, decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON, not validated; undefined if no body was sent. */
  readonly body: unknown;
  readonly client: RequestClient;
  /** Whether the caller wants to be refused for what is otherwise ignored. */
  readonly isStrict: boolean;
  /** Runs an expensive part when it is the client's turn; at once if all of the call waited for that. */
  readonly expensively: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Encoded JSON, whole or streamed; a representation; a value to encode as JSON; or undefined for a 204. */
export type EndpointResponse = Wire | AsyncIterable<Wire> | Representation | object | undefined;

/** An event or a page of events in one of its formats. */
export class Representation {
  /** Undefined sends a 304: the client already has it. */
  readonly wire: Wire | undefined;
  readonly format: Format;
  /** True if the response depends on Accept, and so needs Vary. */
  readonly isNegotiated: boolean;
  /** Additional headers: names and values, alternating. */
  readonly headers: readonly string[];

  constructor(wire: Wire | undefined, format: Format, isNegotiated: boolean, headers: readonly string[]) {
    this.wire = wire;
    this.format = format;
    this.isNegotiated = isNegotiated;
    this.headers = headers;
  }
}

/** A response format other than JSON, for the API description. */
export interface OtherFormat {
  readonly contentType: string;
  readonly schema: TSchema;
  readonly example: unknown;
}

export type ResponseHeader =
  | 'ETag'
  | 'Vary'
  | 'Link'
  | 'Idempotent-Replayed'
  | 'X-Unknown-Fields'
  | 'Event-Warnings';

export interface OtherResponse {
  readonly description: string;
  /** Schemas by media type. */
  readonly content?: Readonly<Record<string, TSchema>>;
}

/** What the API description says about an endpoint. */
export interface Description {
  /** If false, the request counts against the quota but is allowed when the quota is exhausted. */
  readonly needsQuota?: boolean;
  readonly operationId: string;
  readonly tag: 'Registration' | 'Agent' | 'Events' | 'Administration' | 'Service';
  readonly summary: string;
  readonly description: string;
  readonly path?: TObject;
  readonly query?: TObject;
  /** Query parameters beyond the contract. They are described on the path, which must have no other operation. */
  readonly extras?: TObject;
  /** Request headers. */
  readonly headers?: TObject;
  readonly body?: TObject;
  readonly isBodyOptional?: boolean;
  /** Limit of the body; by default the one of bodies without an event. */
  readonly maxBodyBytes?: number;
  /** Schema of the 200 response; absent if the success is a 204. */
  readonly response?: TSchema;
  readonly otherFormats?: readonly OtherFormat[];
  /** Headers of a success, besides those that follow from `access`. */
  readonly responseHeaders?: readonly ResponseHeader[];
  /** Schema of the 503 response, if it has more than the usual envelope. */
  readonly unavailable?: TSchema;
  /** Further responses by status, besides those that follow from the other members. */
  readonly otherResponses?: Readonly<Record<number, OtherResponse>>;
  /** Error codes besides those that follow from `access`, `path`, `query` and `body`. */
  readonly errors?: readonly ErrorCode[];
}

export interface Endpoint<A extends Access = Access> extends Description {
  readonly access: A;
  /** Throws VALIDATION_ERROR for what parameters and body alone show wrong. Only for strict calls that are refused anyway. */
  check?(call: Call<Callers[A]>): unknown;
  /** Whether the call is expensive; it then waits in a queue. */
  isExpensive?(call: Call<Callers[A]>): boolean;
  /** Whether the call searches for a prefix. It then waits in a queue for that, and parts of it as expensive work. */
  searchesPrefix?(query: Query): boolean;
  handle(call: Call<Callers[A]>): Promise<EndpointResponse>;
}

/** Names of all query parameters of the endpoint. */
export function parametersOf({ query, extras }: Description): ReadonlySet<string> {
  return new Set([query, extras].flatMap((shape) => Object.keys(shape?.properties ?? {})));
}

/** Names of the fields of its body, if the endpoint says which others it ignored; otherwise undefined. */
export function namedFieldsOf({ body, responseHeaders }: Description): ReadonlySet<string> | undefined {
  return responseHeaders?.includes('X-Unknown-Fields') ? new Set(Object.keys(body!.properties)) : undefined;
}

/** Defines an endpoint; `access` determines the type of `caller`. */
export function endpoint<A extends Access>(definition: Endpoint<A>): Endpoint {
  return definition as unknown as Endpoint;
}

/** For Fastify: the domain validates and JSON.stringify encodes, so it need not load Ajv, which takes a tenth of the start. */
export const NO_SCHEMAS = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error('A route has a schema for Fastify, but the domain validates.');
}
