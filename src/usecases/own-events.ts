// What an agent sees of its own events: a page at a time, in order of start.
import type { AgentRow } from '../domain/agent.ts';
import { encodeListCursor } from '../domain/list-cursor.ts';
import { OWN_EVENTS_SORT, type OwnEventsQuery } from '../domain/own-events.ts';
import { joinWire, type Wire } from '../domain/wire.ts';
import type { Context } from './context.ts';

export async function listOwnEvents(
  { store, clock }: Context,
  { agent_id }: AgentRow,
  { includeEnded, after, limit }: OwnEventsQuery,
): Promise<Wire> {
  const sort = { key: OWN_EVENTS_SORT, descending: false } as const;
  const when = includeEnded ? 'all' : 'upcoming';
  const page = await store.agentEventPage(agent_id, { q: '', sort, when, after, limit }, clock());
  const cursor = page.next ? `"${encodeListCursor('events', OWN_EVENTS_SORT, page.next)}"` : 'null';
  const { items, total } = page;
  return joinWire(
    '{"events":[',
    items,
    `],"count":${items.length},"total":${total},"next_cursor":${cursor}}`,
  );
}
