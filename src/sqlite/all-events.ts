// The list of all events, with the names of their agents, from memory.
import type { AgentRow } from '../domain/agent.ts';
import { parseEvent } from '../domain/events/event.ts';
import type { OwnedEventPage, Store } from '../domain/store.ts';
import type { EventMemory } from '../memory/event-memory.ts';

export async function listAllEvents(
  memory: EventMemory,
  agents: ReadonlyMap<string, AgentRow>,
  ...args: Parameters<Store['eventPage']>
): Promise<OwnedEventPage> {
  const page = await memory.list(...args);
  // An agent that was deleted meanwhile has no name.
  const nameOf = (agentId: string) => agents.get(agentId)?.agent_name ?? '';
  const items = page.items.map((json) => ({ json, agentName: nameOf(parseEvent(json).agent_id) }));
  return { ...page, items, isAtLeast: false };
}
