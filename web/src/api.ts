// Client of the service's API: a wrapper around fetch, the types of the responses, and all calls that change something. The
// session is in a cookie that scripts cannot read.
import type { Static } from 'typebox';
import type { ActivityResponse } from '../../src/domain/administration/activity.ts';
import type { AgentListResponse, StatsResponse } from '../../src/domain/administration/admin.ts';
import type { AgentDetailsResponse } from '../../src/domain/administration/agent-details.ts';
import type { AuditLogEntry } from '../../src/domain/administration/audit.ts';
import type { OwnedEvent as OwnedEventShape } from '../../src/domain/administration/event-list.ts';
import type { UndoResponse } from '../../src/domain/administration/undo.ts';
import type { AgentSummary, AgentUpdate, RegisterResponse } from '../../src/domain/agent.ts';
import type { Event } from '../../src/domain/events/event.ts';
import type { GrantsResponse } from '../../src/domain/grants.ts';

export type Agent = Static<typeof AgentSummary>;
export type AgentDetails = Static<typeof AgentDetailsResponse>;
export type AgentKey = AgentDetails['keys'][number];
export type GrantList = Static<typeof GrantsResponse>;
export type Grant = GrantList['grants'][number];
/** The only response that has the key. */
export type NewKey = Static<typeof RegisterResponse>;
export type AgentEvent = Static<typeof Event>;
export type OwnedEvent = Static<typeof OwnedEventShape>;
export type AuditRecord = Static<typeof AuditLogEntry>;
export type UndoResult = Static<typeof UndoResponse>;
/** An agent in the list, with its activity. */
export type ListedAgent = Static<typeof AgentListResponse>['agents'][number];
export type Activity = Static<typeof ActivityResponse>;
export type CreatedOnDay = Activity['days'][number];
export type Stats = Static<typeof StatsResponse>;
export type { AgentUpdate };

export interface Page {
  readonly total: number;
  readonly next_cursor: string | null;
}
export interface AgentPage extends Page {
  readonly agents: readonly ListedAgent[];
}
export interface EventPage extends Page {
  readonly agent: Agent;
  readonly events: readonly AgentEvent[];
}
export interface AllEventsPage extends Page {
  readonly events: readonly OwnedEvent[];
  /** Only if it was asked for. */
  readonly agent_count?: number;
}
export interface AuditPage extends Page {
  readonly entries: readonly AuditRecord[];
  /** Only if details were asked for. */
  readonly keep_deleted_days?: number;
}
export interface User {
  readonly email: string;
  readonly name: string;
  /** A URL on this service, or the empty string. */
  readonly picture: string;
  readonly subject: string;
}
export interface Session {
  /** Name or host of the identity provider; null if none is configured: then sign-in is by token. */
  readonly provider: string | null;
  readonly user: User | null;
  readonly is_administrator: boolean;
  readonly expires_at: string | null;
}

/** A failed request. Status 0 means that there was no response. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;

  constructor(status: number, code: string, message: string, requestId?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

let onRefused: () => Promise<void> = async () => {};

/**
 * Sets the listener for rejected sessions: the session has ended (401), or its user is not an administrator (403). The
 * failed request throws after the listener is done.
 */
export function listenForRefusals(listener: () => Promise<void>): void {
  onRefused = listener;
}

/** Throws ApiError, or the abort reason of the signal. */
async function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const init: RequestInit = { method, headers, credentials: 'same-origin', cache: 'no-store' };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal) init.signal = signal;
  try {
    const response = await fetch(path, init);
    if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
    throw await readError(response);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ApiError) throw error;
    throw new ApiError(
      0,
      'UNREACHABLE',
      'The service does not respond. Check your connection and try again.',
    );
  }
}

async function readError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const { error } = (await response.json().catch(() => ({}))) as {
    error?: { code: string; message: string };
  };
  const { code = 'UNKNOWN', message = `The service returned status ${response.status}.` } = error ?? {};
  return new ApiError(response.status, code, message, requestId);
}

/** Recent responses, so that going back shows content at once. Cleared by any change and at the end of the session. */
const recent = new Map<string, unknown>();
const MAX_RECENT = 20;

/** Like send, for requests of administrators. */
async function administer<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  if (method !== 'GET') recent.clear();
  try {
    return await send<T>(method, `/v1/admin${path}`, body, signal);
  } catch (error) {
    const isRefusal = error instanceof ApiError && (error.status === 401 || error.code === 'NOT_AN_ADMIN');
    if (isRefusal) await onRefused();
    throw error;
  }
}

export async function read<T>(path: string, signal: AbortSignal): Promise<T> {
  const data = await administer<T>('GET', path, undefined, signal);
  recent.delete(path);
  recent.set(path, data);
  if (recent.size > MAX_RECENT) recent.delete(recent.keys().next().value!);
  return data;
}

export function forget(): void {
  recent.clear();
}

/** The recent response for this path, if any. */
export function recall<T>(path: string): T | undefined {
  return recent.get(path) as T | undefined;
}

export const updateAgent = (id: string, update: AgentUpdate) =>
  administer<Agent>('PATCH', `/agents/${id}`, update);
export const revokeKey = (id: string, prefix: string) =>
  administer<void>('DELETE', `/agents/${id}/keys/${encodeURIComponent(prefix)}`);
export const endGrant = (id: string, grantId: string) =>
  administer<void>('DELETE', `/agents/${id}/grants/${grantId}`);
/** Gives the agent a new key, and ends all others. */
export const replaceKeys = (id: string) => administer<NewKey>('POST', `/agents/${id}/keys`);
const forGood = (is: boolean) => (is ? '?for_good=true' : '');
export const deleteAgent = (id: string, isForGood = false) =>
  administer<void>('DELETE', `/agents/${id}${forGood(isForGood)}`);
export const deleteAgentEvents = (id: string, isForGood = false) =>
  administer<void>('DELETE', `/agents/${id}/events${forGood(isForGood)}`);
export const deleteEvents = (agentId: string, eventIds: readonly string[], isForGood = false) =>
  administer<{ deleted: number }>('POST', `/agents/${agentId}/events/delete`, {
    event_ids: eventIds,
    for_good: isForGood,
  });
export const deleteEvent = (eventId: string, isForGood = false) =>
  administer<void>('DELETE', `/events/${eventId}${forGood(isForGood)}`);
/** The cursor continues a restore that needs several requests. */
export const undoDelete = (auditId: string, cursor: string | null) =>
  administer<UndoResult>('POST', `/audit/${auditId}/restore${cursor === null ? '' : `?cursor=${cursor}`}`);
/** Deletes events of any agents. With the audit_id of an earlier call, both are one entry of the audit log. */
export const deleteAnyEvents = (eventIds: readonly string[], auditId?: number, isForGood = false) =>
  administer<{ deleted: number; audit_id: number | null }>('POST', '/events/delete', {
    event_ids: eventIds,
    ...(auditId !== undefined && { audit_id: auditId }),
    for_good: isForGood,
  });
/** A page of all events that is read to act on it, not to show it. */
export const readEvents = (query: string, signal: AbortSignal) =>
  administer<AllEventsPage>('GET', `/events${query}`, undefined, signal);

export const readSession = () => send<Session>('GET', '/admin/session');
export const signInWithToken = (token: string) => send<void>('POST', '/admin/token', { token });
export const endSession = () => send<void>('POST', '/admin/logout');
export const endAllSessions = () => send<void>('POST', '/admin/logout-everywhere');
