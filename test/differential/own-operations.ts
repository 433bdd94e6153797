// Requests of agents about themselves: their summary, their events in pages, new keys and the end of keys. Replaced keys are
// used until they are refused, and afterwards.
import type { Chance } from '../support/random.ts';
import type { Known, KnownAgent } from './known.ts';
import { type Answer, parse, type Request, request } from './operation.ts';

export interface OwnOperation {
  readonly request: Request;
  readonly learn: (answer: Answer) => void;
}

type Parameters = Readonly<Record<string, string>>;

interface Page {
  readonly agent: KnownAgent;
  readonly parameters: Parameters;
  readonly cursor: string;
}

const OVERLAPS = [undefined, 0, 0, 1, 60, 600, 3_600, 86_400];
const BAD_OVERLAPS = [-1, 86_401, 1.5, '60', null];
const MAX_PAGES = 6;

export class OwnOperations {
  readonly #chance: Chance;
  readonly #known: Known;
  readonly #pages: Page[] = [];

  constructor(chance: Chance, known: Known) {
    this.#chance = chance;
    this.#known = known;
  }

  next(): OwnOperation {
    const chance = this.#chance;
    const agent = this.#known.agent();
    const kind = chance.next();
    if (kind < 0.27) return this.#me(agent);
    if (kind < 0.3) return this.#grants(agent);
    if (kind < 0.45) return this.#list('own events', agent, this.#parameters());
    if (kind < 0.6 && this.#pages.length > 0) return this.#nextPage();
    if (kind > 0.98) return this.#revokeLast(this.#known.agents.at(-1)!);
    if (kind > 0.82 && agent.oldKeys.length > 0) return this.#revokeOld(agent);
    return this.#rotate(agent);
  }

  #me(agent: KnownAgent): OwnOperation {
    const learn = (answer: Answer) => {
      agent.id = (parse(answer).agent as { id: string }).id;
    };
    return { request: request('me', 'GET', '/v1/agents/me', this.#key(agent)), learn };
  }

  #grants(agent: KnownAgent): OwnOperation {
    const chance = this.#chance;
    const method = chance.pick(['GET', 'DELETE'] as const);
    const path = `/v1/agents/me/grants${chance.pick(['', '', '/x', `/${agent.id ?? ''}`])}`;
    return { request: request('grants', method, path, this.#key(agent)), learn: () => {} };
  }

  #rotate(agent: KnownAgent): OwnOperation {
    const chance = this.#chance;
    const isBad = chance.chance(0.15);
    const overlap_seconds = chance.pick<unknown>(isBad ? BAD_OVERLAPS : OVERLAPS);
    const name = isBad && chance.chance(0.2) ? 'overlap' : 'overlap_seconds';
    const body =
      overlap_seconds === undefined && chance.chance(0.5)
        ? undefined
        : {
            [name]: overlap_seconds,
            ...(chance.chance(0.2) && { end_grants: chance.pick([true, false, 'x']) }),
          };
    const learn = (answer: Answer) => this.#known.replaceKey(agent, parse(answer).api_key as string);
    return { request: request('rotate', 'POST', '/v1/auth/rotate', this.#key(agent), body), learn };
  }

  #revokeOld({ oldKeys: [aside] }: KnownAgent): OwnOperation {
    return this.#revoke('revoke', aside!);
  }

  /** Rarely, and for the least active agent: without a key it is lost to the stream. */
  #revokeLast(agent: KnownAgent): OwnOperation {
    this.#known.removeAgent(agent);
    return this.#revoke('revoke last', agent.key);
  }

  #revoke(name: string, key: string): OwnOperation {
    const headers = { 'x-api-key': key };
    return { request: request(name, 'POST', '/v1/auth/revoke', headers), learn: () => {} };
  }

  #nextPage(): OwnOperation {
    const chance = this.#chance;
    const [page] = this.#pages.splice(chance.integer(0, this.#pages.length - 1), 1);
    const { agent, parameters, cursor } = page!;
    const sent = chance.chance(0.05) ? cursor.slice(0, -1) : cursor;
    return this.#list('next own events', agent, { ...parameters, cursor: sent });
  }

  #list(name: string, agent: KnownAgent, parameters: Parameters): OwnOperation {
    const learn = (answer: Answer) => {
      const { next_cursor } = parse(answer);
      if (typeof next_cursor !== 'string') return;
      this.#pages.push({ agent, parameters, cursor: next_cursor });
      this.#pages.splice(0, this.#pages.length - MAX_PAGES);
    };
    const path = `/v1/agents/me/events?${new URLSearchParams(parameters)}`;
    return { request: request(name, 'GET', path, this.#key(agent)), learn };
  }

  #parameters(): Parameters {
    const chance = this.#chance;
    return {
      ...(chance.chance(0.9) && { limit: chance.pick(['1', '2', '5', '100', '0']) }),
      ...(chance.chance(0.2) && { include: chance.pick(['status', 'updated_at', 'updated_at,status', 'x']) }),
      ...(chance.chance(0.6) && { include_ended: chance.pick(['true', 'true', 'true', 'false', '1']) }),
    };
  }

  /** Sometimes a replaced key. */
  #key(agent: KnownAgent): Record<string, string> {
    const [aside] = agent.oldKeys;
    return { 'x-api-key': aside !== undefined && this.#chance.chance(0.3) ? aside : agent.key };
  }
}
