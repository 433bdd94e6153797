// What an endpoint is: its description, who may call it, and what it does. server.ts gives it a method and a path.
import type { TObject, TSchema } from 'typebox';
import type { Identity } from '../domain/admin.ts';
import type { AgentRow } from '../domain/agent.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Wire } from '../domain/wire.ts';
import type { Context } from '../usecases/context.ts';

/** Who the caller turns out to be, for each kind of access. */
interface Callers {
  /** No key; the caller is the network of the client's address, as far as the operator trusts it. */
  registration: string;
  read: AgentRow;
  readwrite: AgentRow;
  administrator: Identity;
}
export type Access = keyof Callers;

export interface Call<Caller = unknown> {
  readonly context: Context;
  readonly caller: Caller;
  /** Path parameters, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** As sent, without the question mark. */
  readonly query: string;
  /** The parsed JSON, unchecked; undefined where none was sent. */
  readonly body: unknown;
}

/** Encoded already, whole or in pieces; a value to be encoded; or nothing. */
export type Answer = Wire | AsyncIterable<Wire> | object | undefined;

export interface OtherAnswer {
  readonly description: string;
  /** By media type. */
  readonly content?: Readonly<Record<string, TSchema>>;
}

export interface Description {
  readonly operationId: string;
  readonly tag: 'Registration' | 'Events' | 'Administration' | 'Service';
  readonly summary: string;
  readonly description: string;
  readonly path?: TObject;
  readonly query?: TObject;
  readonly body?: TObject;
  /** No schema: 204. */
  readonly answer?: TSchema;
  /** What a 503 says, where it says more than others. */
  readonly unavailable?: TSchema;
  /** Answers beside those that follow from the rest, by status. */
  readonly others?: Readonly<Record<number, OtherAnswer>>;
  /** Codes beyond those that follow from access, path, query and body. */
  readonly errors?: readonly ErrorCode[];
}

export interface Endpoint<A extends Access = Access> extends Description {
  readonly access: A;
  handle(call: Call<Callers[A]>): Promise<Answer>;
}

/** Types the caller from the access. */
export function endpoint<A extends Access>(definition: Endpoint<A>): Endpoint {
  return definition as unknown as Endpoint;
}
