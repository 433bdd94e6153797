// The Endpoint type: an endpoint's description, who may call it, and its handler. Each file of endpoints lists its routes at its end.
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from '../../usecases/context.ts';
import type { Access, Callers, Demands, Gate } from '../access/authenticate.ts';
import type { Backlog } from '../admission/backlog.ts';
import type { ResponseDeadline } from '../admission/deadline.ts';
import type { RequestClient } from '../admission/request-client.ts';
import type { Description } from '../guide/description.ts';
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
  /** Runs an expensive part in the queue for that; at once if all of the call waited there. */
  readonly expensively: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface Endpoint<A extends Access = Access, Input = unknown> extends Description, Demands<A> {
  /** Reads parameters and body for `handle`. Throws VALIDATION_ERROR for all that they alone show wrong. */
  read?(call: Call<Callers[A]>): Input;
  /** Whether the call is expensive; it then waits in a queue. */
  isExpensive?(call: Call<Callers[A]>): boolean;
  /** Whether the call searches for a prefix. It then waits in a queue for that, and parts of it as expensive work. */
  searchesPrefix?(query: Query): boolean;
  handle(call: Call<Callers[A]>, input: Input): Promise<EndpointResponse>;
}

/** An endpoint at a method and a path; path parameters are in braces. */
export type Route = readonly [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, endpoint: Endpoint];

/** Names of all query parameters of the endpoint. */
export function parametersOf({ query, extras }: Description): ReadonlySet<string> {
  return new Set([query, extras].flatMap((shape) => Object.keys(shape?.properties ?? {})));
}

/** Names of the fields of its body, if the endpoint says which others it ignored; otherwise undefined. */
export function namedFieldsOf({ body, responseHeaders }: Description): ReadonlySet<string> | undefined {
  return responseHeaders?.includes('X-Unknown-Fields') ? new Set(Object.keys(body!.properties)) : undefined;
}

/** Defines an endpoint; `access` determines the type of `caller`, `read` that of the input. */
export function endpoint<A extends Access, Input>(definition: Endpoint<A, Input>): Endpoint {
  return definition as unknown as Endpoint;
}

/** Defines an endpoint for administrators. Unless it says otherwise, its calls are expensive: most read or change many rows. */
export function adminEndpoint<Input>(
  definition: Omit<Endpoint<'administrator', Input>, 'tag' | 'access'>,
): Endpoint {
  return endpoint({ tag: 'Administration', access: 'administrator', isExpensive: () => true, ...definition });
}
