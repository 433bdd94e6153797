// How many requests each agent has made in the last hour, and how many of these a limit or quota refused: for administrators who
// look for who takes the service from others. Counted in steps of five minutes.
import { HOUR_MS } from '../clock-and-random.ts';
import Type from '../schema.ts';

const STEP_MS = 300_000;

/** How many requests an agent made in the last hour, and how many of them were refused. */
export interface AgentRequests {
  readonly requests_1h: number;
  readonly refusals_1h: number;
}

export const NO_REQUESTS: AgentRequests = { requests_1h: 0, refusals_1h: 0 };

const field = (what: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      description: `${what} in the last hour, in steps of 5 minutes. Only with include=requests.`,
      examples: [0],
    }),
  );

export const REQUEST_FIELDS = {
  requests_1h: field('Its requests'),
  refusals_1h: field('Its requests that a limit or a quota refused'),
};

/** Whether a list is sorted by requests. */
export function isRequestCount(sort: string): sort is keyof AgentRequests {
  return sort in NO_REQUESTS;
}

/** The part of an AgentListQuery that says whether it needs the counts. */
interface ListNeeds {
  readonly requests?: boolean;
  readonly sort: { readonly key: string };
}

/** The steps that make up the last hour, both ends included: a step is named by its beginning. */
export function stepsOfHour(nowMs: number): { readonly first: number; readonly last: number } {
  const last = stepAt(nowMs);
  return { first: last - HOUR_MS + STEP_MS, last };
}

function stepAt(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS) * STEP_MS;
}

interface Counts {
  requests: number;
  refusals: number;
}

/** Requests and refusals in one step. */
export interface StepCounts extends Readonly<Counts> {
  readonly agent_id: string;
  readonly step_ms: number;
}

export class RecentRequests {
  readonly #steps = new Map<number, Map<string, Counts>>();
  #stepMs = Number.NaN;
  #current = new Map<string, Counts>();

  note(agentId: string, nowMs: number): void {
    this.#countsOf(agentId, stepAt(nowMs)).requests++;
  }

  noteRefusal(agentId: string, nowMs: number): void {
    this.#countsOf(agentId, stepAt(nowMs)).refusals++;
  }

  /** What a list needs of them. */
  for({ requests, sort }: ListNeeds, nowMs: number): ReadonlyMap<string, AgentRequests> {
    return requests || isRequestCount(sort.key) ? this.ofHour(nowMs) : new Map();
  }

  /** The counts of every agent that made a request in the last hour. */
  ofHour(nowMs: number): Map<string, AgentRequests> {
    const found = new Map<string, AgentRequests>();
    const { first, last } = stepsOfHour(nowMs);
    for (const [step, counts] of this.#steps) {
      if (step < first || step > last) continue;
      for (const [agentId, { requests, refusals }] of counts) {
        const { requests_1h, refusals_1h } = found.get(agentId) ?? NO_REQUESTS;
        found.set(agentId, { requests_1h: requests_1h + requests, refusals_1h: refusals_1h + refusals });
      }
    }
    return found;
  }

  /** Returns everything and forgets it. */
  take(): StepCounts[] {
    const taken = [...this.#steps].flatMap(([step_ms, byAgent]) =>
      Array.from(byAgent, ([agent_id, counts]) => ({ agent_id, step_ms, ...counts })),
    );
    this.#steps.clear();
    this.#stepMs = Number.NaN;
    return taken;
  }

  putBack(taken: readonly StepCounts[]): void {
    for (const { agent_id, step_ms, requests, refusals } of taken) {
      const counts = this.#countsOf(agent_id, step_ms);
      counts.requests += requests;
      counts.refusals += refusals;
    }
  }

  #countsOf(agentId: string, stepMs: number): Counts {
    if (stepMs !== this.#stepMs) this.#enter(stepMs);
    let counts = this.#current.get(agentId);
    if (!counts) {
      counts = { requests: 0, refusals: 0 };
      this.#current.set(agentId, counts);
    }
    return counts;
  }

  /** Forgets steps that no hour has any more, also those of a clock that was ahead. */
  #enter(stepMs: number): void {
    for (const step of this.#steps.keys()) if (Math.abs(step - stepMs) > HOUR_MS) this.#steps.delete(step);
    this.#stepMs = stepMs;
    this.#current = this.#steps.get(stepMs) ?? new Map();
    this.#steps.set(stepMs, this.#current);
  }
}
