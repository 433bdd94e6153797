// The Endpoint type: an endpoint's description, who may call it, and its handler. table.ts assigns methods and paths.
import type { IncomingHttpHeaders } from 'node:http';
import type { TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Context } from '../../usecases/context.ts';
import type { Access, Callers, Demands, Gate } from '../access/authenticate.ts';
import type { Backlog } from '../admission/backlog.ts';
import type { ResponseDeadline } from '../admission/deadline.ts';
import type { RequestClient } from '../admission/request-client.ts';
import type { LogFault } from '../log/fault-log.ts';
import type { Query } from '../request/query.ts';
import type { EndpointResponse } from '../response/send.ts';

/** What requests are served with. */
export interface Service extends Gate {
  readonly backlog: Backlog;
  readonly deadline: ResponseDeadline;
  readonly onFault: LogFault;
}

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

export interface Endpoint<A extends Access = Access> extends Description, Demands<A> {
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
