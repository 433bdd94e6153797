// What an agent sees of its own events: a page at a time, in order of start.
import type { AgentRow } from '../domain/agent.ts';
import type { EventListQuery } from '../domain/list.ts';
import { encodeOwnEvents } from '../domain/own-events.ts';
import type { Wire } from '../domain/wire.ts';
import type { Context } from './context.ts';

export async function listOwnEvents(
  { store, clock }: Context,
  { agent_id }: AgentRow,
  query: EventListQuery,
): Promise<Wire> {
  const { items, total, next } = await store.agentEventPage(agent_id, query, clock());
  return encodeOwnEvents(items, total, next);
}
