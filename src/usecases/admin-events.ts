// Events of all agents, for administrators: the list, and one event.

import { type AllEventsQuery, addAgentName, encodeAllEvents } from '../domain/administration/event-list.ts';
import { AppError } from '../domain/errors.ts';
import { parseEvent } from '../domain/events/event.ts';
import { isUlid } from '../domain/ids.ts';
import type { Wire } from '../domain/wire.ts';
import type { Context } from './context.ts';

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
