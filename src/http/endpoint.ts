// What an endpoint is: its description, who may call it, and what it does. server.ts gives it a method and a path.
import type { IncomingHttpHeaders } from 'node:http';
import type { TObject, TSchema } from 'typebox';
import type { Identity } from '../domain/admin.ts';
import type { AgentRow } from '../domain/agent.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Wire } from '../domain/wire.ts';
import type { KeyHolder } from '../usecases/access.ts';
import type { Context } from '../usecases/context.ts';
import type { Query } from './request/query.ts';
import type { Format } from './response/formats.ts';

/** Who the caller turns out to be, for each kind of access. */
interface Callers {
  /** No key; the caller is the network of the client's address, as far as the operator trusts it. */
  registration: string;
  read: AgentRow;
  /** As read, but told which key it is. */
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
  /** The parsed JSON, unchecked; undefined where none was sent. */
  readonly body: unknown;
}

/** Encoded already, whole or in pieces; in a form of its own; a value to be encoded; or nothing. */
export type EndpointResponse = Wire | AsyncIterable<Wire> | Representation | object | undefined;

/** An event or a page of events in one of its forms. */
export class Representation {
  /** Undefined where the client has it already. */
  readonly wire: Wire | undefined;
  readonly format: Format;
  /** Whether Accept may decide the form. */
  readonly isNegotiated: boolean;
  /** More headers: names and values in turn. */
  readonly headers: readonly string[];

  constructor(wire: Wire | undefined, format: Format, isNegotiated: boolean, headers: readonly string[]) {
    this.wire = wire;
    this.format = format;
    this.isNegotiated = isNegotiated;
    this.headers = headers;
  }
}

/** Another form of an answer than JSON, for the description. */
export interface OtherFormat {
  readonly contentType: string;
  readonly schema: TSchema;
  readonly example: unknown;
}

export type ResponseHeader = 'ETag' | 'Vary' | 'Link';

export interface OtherResponse {
  readonly description: string;
  /** By media type. */
  readonly content?: Readonly<Record<string, TSchema>>;
}

export interface Description {
  /** False: it is counted like all others, but goes on where none is left. */
  readonly needsQuota?: boolean;
  readonly operationId: string;
  readonly tag: 'Registration' | 'Agent' | 'Events' | 'Administration' | 'Service';
  readonly summary: string;
  readonly description: string;
  readonly path?: TObject;
  readonly query?: TObject;
  /** Parameters beyond the interface. They are described for the whole path, which must have this operation only. */
  readonly extras?: TObject;
  /** Of requests. */
  readonly headers?: TObject;
  readonly body?: TObject;
  /** Whether there may be none. */
  readonly isBodyOptional?: boolean;
  /** No schema: 204. */
  readonly answer?: TSchema;
  readonly otherFormats?: readonly OtherFormat[];
  /** Those of a success, beyond those that follow from access. */
  readonly responseHeaders?: readonly ResponseHeader[];
  /** What a 503 says, where it says more than others. */
  readonly unavailable?: TSchema;
  /** Answers beside those that follow from the rest, by status. */
  readonly others?: Readonly<Record<number, OtherResponse>>;
  /** Codes beyond those that follow from access, path, query and body. */
  readonly errors?: readonly ErrorCode[];
}

export interface Endpoint<A extends Access = Access> extends Description {
  readonly access: A;
  handle(call: Call<Callers[A]>): Promise<EndpointResponse>;
}

/** Names of all its query parameters. */
export function parametersOf({ query, extras }: Description): ReadonlySet<string> {
  return new Set([query, extras].flatMap((shape) => Object.keys(shape?.properties ?? {})));
}

/** Types the caller from the access. */
export function endpoint<A extends Access>(definition: Endpoint<A>): Endpoint {
  return definition as unknown as Endpoint;
}
