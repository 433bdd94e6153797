// What the stream has learnt from the responses so far: agents with their keys, events, pages that can be continued. It also
// remembers what was deleted, because that is requested too.
import type { Chance } from '../support/random.ts';
import type { Body } from './values.ts';

export interface KnownAgent {
  readonly name: string;
  key: string;
  /** Its earlier keys, the latest first, whether they still work or not. */
  readonly oldKeys: string[];
  id: string | undefined;
}

export interface KnownEvent {
  readonly id: string;
  readonly owner: KnownAgent;
  /** The fields as last seen. */
  fields: Body;
}

export interface KnownPage {
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly cursor: string;
}

const MAX_EVENTS = 3_000;
const MAX_PAGES = 12;
const MAX_GONE = 10;
const MAX_OLD_KEYS = 2;

/** The higher, the more of the operations are the first agent's. */
const SKEW = 2.5;

export class Known {
  readonly agents: KnownAgent[] = [];
  readonly goneAgents: KnownAgent[] = [];
  readonly events: KnownEvent[] = [];
  readonly pages: KnownPage[] = [];
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  agent(): KnownAgent {
    return this.agents[Math.floor(this.agents.length * this.#chance.next() ** SKEW)]!;
  }

  /** Mostly a recent event: older ones are more often deleted. */
  event(): KnownEvent | undefined {
    const back = Math.floor(this.events.length * this.#chance.next() ** 2);
    return this.events[this.events.length - 1 - back];
  }

  eventOf(owner: KnownAgent): KnownEvent | undefined {
    for (let tries = 0; tries < 20; tries++) {
      const event = this.event();
      if (event?.owner === owner) return event;
    }
    return this.event();
  }

  addEvent(id: string, owner: KnownAgent, fields: Body): void {
    this.events.push({ id, owner, fields });
    if (this.events.length > MAX_EVENTS) this.events.splice(0, MAX_EVENTS / 2);
  }

  addPage(page: KnownPage): void {
    this.pages.push(page);
    if (this.pages.length > MAX_PAGES) this.pages.splice(this.#chance.integer(0, MAX_PAGES - 1), 1);
  }

  replaceKey(agent: KnownAgent, key: string): void {
    agent.oldKeys.unshift(agent.key);
    agent.oldKeys.splice(MAX_OLD_KEYS);
    agent.key = key;
  }

  removeAgent(agent: KnownAgent): void {
    this.agents.splice(this.agents.indexOf(agent), 1);
    this.goneAgents.unshift(agent);
    this.goneAgents.splice(MAX_GONE);
  }
}
