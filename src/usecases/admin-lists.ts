// Lists for administrators: agents, their events, the audit log, and statistics. Lists of the interface are whole unless the request has
// parameters; then they have pages.

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
  const agent = (await store.findAgentDetails(agentId, clock()))?.agent;
  if (!agent) return agentNotFound(agentId);
  if (!query) {
    return encodeAgentEvents(
      agent,
      pagesOf<ListedEvent>((before) => store.agentEventPage(agentId, pageAfter(before), clock())),
    );
  }
  return encodeEventPage(agent, await store.agentEventPage(agentId, query, clock()), encodeSort(query.sort));
}

/**
 * The pages of a whole list. Each is read when the caller asks for it, and nothing stays open in between, so a caller may be slow. Each
 * page begins after the last item of the one before, so an item that does not change meanwhile is neither skipped nor repeated.
 */
async function* pagesOf<Item>(
  readAfter: (before: ListPage<Item> | undefined) => Promise<ListPage<Item>>,
): AsyncGenerator<readonly Item[]> {
  let page: ListPage<Item> | undefined;
  do {
    page = await readAfter(page);
    // The page is empty if the items that followed were deleted meanwhile.
    if (page.items.length > 0) yield page.items;
  } while (page.next);
}

/** Approximate size of a page of the whole list, which is in memory at once. One event can have 60 KB. */
const CHARS_PER_PAGE = 131_072;
/**
 * The same as on a page for a client. With 350, PostgreSQL sorted all events of the agent for each page, because it did not know yet how
 * many there are (100,000 events: 16 s instead of 2 s).
 */
const MAX_PER_PAGE = 100;
const FIRST_PAGE = 20;

/** The query of the next page. Assumes that its events are as long as those of the page before. */
function pageAfter({ items, next }: Partial<ListPage<ListedEvent>> = {}): EventListQuery {
  const chars = items?.reduce((sum, { json }) => sum + json.length, 0);
  const fitting = items && chars ? Math.ceil((CHARS_PER_PAGE / chars) * items.length) : FIRST_PAGE;
  const sort = { key: 'start_at', descending: false } as const;
  return { q: '', when: 'all', sort, after: next, limit: Math.min(fitting, MAX_PER_PAGE) };
}

async function* encodeAgentEvents(agent: AgentRecord, pages: AsyncIterable<readonly ListedEvent[]>) {
  yield beginWith(agent);
  let separator = '';
  for await (const page of pages) {
    yield joinWire(separator, page.map(jsonOf), '');
    separator = ',';
  }
  yield toWire(']}');
}

function jsonOf({ json }: ListedEvent): Wire {
  return json;
}

function encodeEventPage(
  agent: AgentRecord,
  { items, total, next }: ListPage<ListedEvent>,
  sort: string,
): Wire {
  const cursor = JSON.stringify(cursorOf('events', sort, next));
  return joinWire(beginWith(agent), items.map(jsonOf), `],"total":${total},"next_cursor":${cursor}}`);
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
export async function getAnyEvent({ store, clock }: Context, eventId: string): Promise<Wire> {
  const event = isUlid(eventId) ? await store.findEvent(eventId) : undefined;
  const owner = event && (await store.findAgentDetails(parseEvent(event.json).agent_id, clock()));
  // Without an agent, both were deleted between the two reads.
  if (!owner) throw new AppError('NOT_FOUND', 'There is no event with this ID.');
  return addAgentName(event.json, owner.agent.agent_name);
}
