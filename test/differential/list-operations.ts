// Requests of administrators for pages: lists by every sort, searches in them, the audit log, statistics, and the deletion
// of selected events. Pages are continued, sometimes with another sort.
import { AGENT_SORTS, EVENT_SORTS, WHENS } from '../../src/domain/administration/list.ts';
import type { Chance } from '../support/random.ts';
import type { Known } from './known.ts';
import { type Answer, administer, parse, type Request } from './operation.ts';
import { textOf } from './values.ts';

type Parameters = Readonly<Record<string, string>>;

interface Listed {
  readonly name: string;
  readonly path: string;
  readonly parameters: Parameters;
  readonly cursor: string;
}

const NOBODY = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';
const MAX_PAGES = 6;

export interface ListOperation {
  readonly request: Request;
  readonly learn: (answer: Answer) => void;
}

export class ListOperations {
  readonly #chance: Chance;
  readonly #known: Known;
  readonly #pages: Listed[] = [];

  constructor(chance: Chance, known: Known) {
    this.#chance = chance;
    this.#known = known;
  }

  next(): ListOperation {
    const chance = this.#chance;
    const kind = chance.next();
    if (kind < 0.1) return { request: administer('stats', 'GET', '/v1/admin/stats'), learn: () => {} };
    if (kind < 0.2) return { request: this.#deleteSelected(), learn: () => {} };
    if (kind < 0.45 && this.#pages.length > 0) return this.#nextPage();
    if (kind < 0.55) return this.#list('audit', '/v1/admin/audit', this.#limit());
    if (kind < 0.75) {
      return this.#list('page of agents', '/v1/admin/agents', {
        ...this.#limit(),
        ...this.#sort(AGENT_SORTS),
        ...this.#search(['agent', 'ÄGENT', '1', '-7', 'EXAMPLE']),
      });
    }
    const when = chance.chance(0.5) ? { when: chance.pick([...WHENS, 'now']) } : {};
    return this.#list('page of events', `${this.#agentPath()}/events`, {
      ...this.#limit(),
      ...this.#sort(EVENT_SORTS),
      ...this.#search([textOf(chance), 'LANTERN', 'é', this.#known.event()?.id.slice(-4) ?? 'x']),
      ...when,
    });
  }

  #nextPage(): ListOperation {
    const chance = this.#chance;
    const [page] = this.#pages.splice(chance.integer(0, this.#pages.length - 1), 1);
    const { name, path, parameters, cursor } = page!;
    const sort = chance.chance(0.1) ? this.#sort(EVENT_SORTS) : {};
    return this.#list(`next ${name}`, path, { ...parameters, ...sort, cursor });
  }

  #list(name: string, path: string, parameters: Parameters): ListOperation {
    const learn = (answer: Answer) => {
      const { next_cursor } = parse(answer);
      if (typeof next_cursor !== 'string') return;
      this.#pages.push({ name: name.replace('next ', ''), path, parameters, cursor: next_cursor });
      this.#pages.splice(0, this.#pages.length - MAX_PAGES);
    };
    return { request: administer(name, 'GET', `${path}?${new URLSearchParams(parameters)}`), learn };
  }

  #deleteSelected(): Request {
    const chance = this.#chance;
    const owner = this.#known.agent();
    const ids = Array.from({ length: chance.integer(0, 5) }, () => this.#known.eventOf(owner)?.id ?? 'x');
    const path = `/v1/admin/agents/${owner.id ?? NOBODY}/events/delete`;
    return administer('delete selected', 'POST', path, { event_ids: ids });
  }

  #agentPath(): string {
    return `/v1/admin/agents/${this.#known.agent().id ?? NOBODY}`;
  }

  #limit(): Parameters {
    return { limit: this.#chance.pick(['1', '2', '5', '30', '100']) };
  }

  #sort(keys: readonly string[]): Parameters {
    const chance = this.#chance;
    if (chance.chance(0.1)) return {};
    const key = chance.chance(0.01) ? 'colour' : chance.pick(keys);
    return { sort: chance.chance(0.5) ? key : `-${key}` };
  }

  #search(texts: readonly string[]): Parameters {
    return this.#chance.chance(0.5) ? { q: this.#chance.pick([...texts, '', '%']) } : {};
  }
}
