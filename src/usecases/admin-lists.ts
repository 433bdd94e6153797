// Lists for administrators: agents, their events, the audit log, and statistics. Paged if the request has parameters,
// otherwise whole, as the interface defines it.

import { beginningsOfDays, describeDay } from '../domain/administration/activity.ts';
import { describeAudit, describeAuditDetails } from '../domain/administration/audit.ts';
import { encodeListCursor, type ListName, type ListPosition } from '../domain/administration/cursor.ts';
import { type AllEventsQuery, addAgentName, encodeAllEvents } from '../domain/administration/event-list.ts';
import {
  type AgentListQuery,
  AUDIT_SORT,
  type AuditQuery,
  type EventListQuery,
  encodeSort,
} from '../domain/administration/list.ts';
import { type AgentRecord, summarise } from '../domain/agent.ts';
import { DAY_MS } from '../domain/clock-and-random.ts';
import { AppError } from '../domain/errors.ts';
import { parseEvent } from '../domain/events/event.ts';
import { isUlid } from '../domain/ids.ts';
import type { ListedEvent, ListPage, Stats } from '../domain/store.ts';
import { joinWire, toWire, type Wire } from '../domain/wire.ts';
import { agentNotFound } from './admin.ts';
import type { Context } from './context.ts';

/** All agents, or a page of them. */
export async function listAgents({ store, clock }: Context, query: AgentListQuery | undefined) {
  if (query) {
    const { items, total, next } = await store.agentPage(query, clock());
    return {
      agents: items.map(summarise),
      total,
      next_cursor: cursorOf('agents', encodeSort(query.sort), next),
    };
  }
  const agents = (await store.listAgents()).map(summarise);
  return { agents, total: agents.length };
}

/** The agent with all its events, streamed because they may not fit in memory, or with a page of them. Throws NOT_FOUND. */
export async function listAgentEvents(
  { store, clock }: Context,
  agentId: string,
  query: EventListQuery | undefined,
): Promise<AsyncIterable<Wire> | Wire> {
  const agent = await store.findAgent(agentId);
  if (!agent) return agentNotFound(agentId);
  if (!query) return encodeAgentEvents(agent, store.listAgentEvents(agentId));
  return encodeEventPage(agent, await store.agentEventPage(agentId, query, clock()), encodeSort(query.sort));
}

async function* encodeAgentEvents(agent: AgentRecord, pages: AsyncIterable<readonly Wire[]>) {
  yield beginWith(agent);
  let separator = '';
  for await (const page of pages) {
    yield joinWire(separator, page, '');
    separator = ',';
  }
  yield toWire(']}');
}

function encodeEventPage(
  agent: AgentRecord,
  { items, total, next }: ListPage<ListedEvent>,
  sort: string,
): Wire {
  const cursor = JSON.stringify(cursorOf('events', sort, next));
  const events = items.map(({ json }) => json);
  return joinWire(beginWith(agent), events, `],"total":${total},"next_cursor":${cursor}}`);
}

function beginWith(agent: AgentRecord): Wire {
  return joinWire('{"agent":', [toWire(JSON.stringify(summarise(agent)))], ',"events":[');
}

export async function listAudit({ store, clock, policy }: Context, query: AuditQuery) {
  const { items, total, next } = await store.auditPage(query);
  const position = next === undefined ? undefined : { value: String(next), id: String(next) };
  const entries = items.map((record) =>
    query.details
      ? describeAuditDetails(record, clock(), policy.keepDeletedDays * DAY_MS)
      : describeAudit(record),
  );
  const next_cursor = cursorOf('audit', AUDIT_SORT, position);
  const { keepDeletedDays: keep_deleted_days } = policy;
  return { entries, total, next_cursor, ...(query.details && { keep_deleted_days }) };
}

export async function getStats({ store, clock }: Context): Promise<Stats> {
  const { agents, agents_active_today, events, events_upcoming } = await store.stats(clock());
  return { agents, agents_active_today, events, events_upcoming };
}

/** What was created on each of the last days, the oldest first. */
export async function getActivity({ store, clock }: Context, days: number) {
  const fromMs = beginningsOfDays(days, clock());
  const created = await store.countCreated(fromMs);
  return { days: created.map((counts, at) => describeDay(fromMs[at]!, counts)) };
}

function cursorOf(list: ListName, sort: string, next: ListPosition | undefined): string | null {
  return next ? encodeListCursor(list, sort, next) : null;
}

/** Throws the reason of the signal if it is aborted. */
export async function listAllEvents(
  { store, clock }: Context,
  query: AllEventsQuery,
  signal?: AbortSignal,
): Promise<Wire> {
  return encodeAllEvents(await store.eventPage(query, clock(), signal), query.sort);
}

/** The event with the name of its agent. Throws NOT_FOUND. */
export async function getAnyEvent({ store }: Context, eventId: string): Promise<Wire> {
  const event = isUlid(eventId) ? await store.findEvent(eventId) : undefined;
  const agent = event && (await store.findAgent(parseEvent(event.json).agent_id));
  // Without an agent, both were deleted between the two reads.
  if (!agent) throw new AppError('NOT_FOUND', 'There is no event with this ID.');
  return addAgentName(event.json, agent.agent_name);
}
