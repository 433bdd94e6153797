// One seeded stream of operations: requests of agents and administrators, and time that passes. The next operation follows
// from the seed and the earlier responses, so that a stream can be repeated.
import { AUDIENCES, EVENT_TYPES } from '../../src/domain/events/event.ts';
import { WHENS } from '../../src/domain/events/when.ts';
import { Chance } from '../support/random.ts';
import { Known, type KnownAgent, type KnownEvent, type KnownPage } from './known.ts';
import { type ListOperation, ListOperations } from './list-operations.ts';
import { type Answer, administer, type Operation, parse, type Request, request } from './operation.ts';
import { type OwnOperation, OwnOperations } from './own-operations.ts';
import { PassingTime } from './passing-time.ts';
import { type Body, fieldsOf, placeOf, spoil, startMsOf, textOf, wordsOf, writeInstant } from './values.ts';

/** The number of agents that the stream aims at. */
const AGENTS = 12;

/** Names that differ mostly in case. */
const NAMES = ['agent', 'Agent', 'ägent', 'ÄGENT', 'agentΣ'];

const FORMATS = ['json', 'geojson', 'ics', 'jsonld'];

const INCLUDES = ['distance', 'local', 'status', 'updated_at'];

const TIERS = ['read', 'readwrite', 'admin'];

export class Operations {
  readonly #chance: Chance;
  readonly #known: Known;
  readonly #time: PassingTime;
  readonly #lists: ListOperations;
  readonly #own: OwnOperations;
  #registered = 0;
  #learn: (answer: Answer) => void = () => {};

  constructor(seed: number, nowMs: number) {
    this.#chance = new Chance(seed);
    this.#known = new Known(this.#chance);
    this.#time = new PassingTime(this.#chance, this.#known, nowMs);
    this.#lists = new ListOperations(this.#chance, this.#known);
    this.#own = new OwnOperations(this.#chance, this.#known);
  }

  next(): Operation {
    this.#learn = () => {};
    const passMs = this.#time.pass();
    return { ...this.#request(), passMs };
  }

  /** Takes the response to the previous operation, from which later ones are made. */
  learn(answer: Answer): void {
    this.#time.learn(answer);
    if (answer.status === 200 && answer.text !== '') this.#learn(answer);
  }

  #request(): Request {
    const chance = this.#chance;
    const { agents, pages } = this.#known;
    if (agents.length < AGENTS && (agents.length === 0 || chance.chance(0.2))) return this.#register();
    if (this.#time.isEndNear) return this.#searchForAll();
    if (chance.chance(0.1)) return this.#take(chance.chance(0.5) ? this.#lists.next() : this.#own.next());
    const kind = chance.next();
    if (kind < 0.3) return this.#search();
    if (kind < 0.44) return pages.length > 0 ? this.#nextPage() : this.#search();
    if (kind < 0.62) return this.#create(fieldsOf(chance, this.#time.nowMs));
    if (kind < 0.68) return this.#repeat();
    if (kind < 0.82) return this.#patch();
    if (kind < 0.85) return this.#deleteEvent();
    if (kind < 0.92) return this.#get();
    if (kind < 0.93) return this.#register();
    return this.#administer();
  }

  #take({ request, learn }: ListOperation | OwnOperation): Request {
    this.#learn = learn;
    return request;
  }

  #register(): Request {
    const name = `${this.#chance.pick(NAMES)} ${++this.#registered}`;
    const isBad = this.#chance.chance(0.1);
    this.#learn = (answer) =>
      void this.#known.agents.push({
        name,
        key: parse(answer).api_key as string,
        oldKeys: [],
        id: undefined,
      });
    const body = { email: isBad ? 'nobody' : 'agent@example.com', agent_name: name };
    return request('register', 'POST', '/v1/auth/register', {}, body);
  }

  #search(): Request {
    const chance = this.#chance;
    const parameters = Object.entries(placeOf(chance)).map(([name, value]) => [name, String(value)] as const);
    return this.#searchWith([...parameters, ...this.#filters()], 'search');
  }

  #searchForAll(): Request {
    const parameters = { lat: '52.52', lng: '13.405', limit: '100' };
    return this.#searchWith(Object.entries(parameters), 'search');
  }

  #filters(): [string, string][] {
    const chance = this.#chance;
    const filters: [string, string][] = [];
    const kind = chance.next();
    if (kind < 0.25) filters.push(['radius', chance.pick(['0.1', '1', '25', '100'])]);
    else if (kind < 0.6) filters.push(['radius', String(chance.between(0.1, 100))]);
    else if (kind < 0.62) filters.push(['radius', chance.pick(['0', '100.1', 'x', ''])]);
    if (chance.chance(0.3))
      filters.push(...chance.some(EVENT_TYPES, 0.3).map((type) => ['event_type', type] as [string, string]));
    if (chance.chance(0.3))
      filters.push(...chance.some(AUDIENCES).map((audience) => ['audience', audience] as [string, string]));
    for (const edge of chance.some(['starts_after', 'starts_before'], 0.2))
      filters.push([edge, this.#edge()]);
    for (const edge of chance.some(['active_after', 'active_before'], 0.15))
      filters.push([edge, this.#edge()]);
    if (chance.chance(0.2)) filters.push(['when', chance.pick([...WHENS, 'soon'])]);
    if (chance.chance(0.3)) filters.push(['sort', chance.pick(['distance', 'distance', 'start', 'near'])]);
    if (chance.chance(0.2)) filters.push(['q', wordsOf(chance)]);
    if (chance.chance(0.8)) filters.push(['limit', chance.pick(['1', '2', '3', '7', '30', '99', '100'])]);
    if (chance.chance(0.01)) filters.push(['limit', chance.pick(['0', '101', '1.5'])]);
    if (chance.chance(0.3))
      filters.push(['status', chance.pick(['scheduled', 'cancelled', 'any', 'any', 'all'])]);
    if (chance.chance(0.2)) filters.push(['include', chance.some(INCLUDES, 0.4).join(',') || 'distance']);
    if (chance.chance(0.1)) filters.push(['format', chance.pick(FORMATS)]);
    return filters;
  }

  /** Often exactly the start of an event, where inclusive and exclusive bounds differ. */
  #edge(): string {
    const start = this.#known.event()?.fields.start_at;
    if (start !== undefined && this.#chance.chance(0.6)) return String(start);
    return writeInstant(this.#chance, startMsOf(this.#chance, this.#time.nowMs));
  }

  #nextPage(): Request {
    const chance = this.#chance;
    const { pages } = this.#known;
    const at = chance.integer(0, pages.length - 1);
    const { parameters, cursor } = pages[at]!;
    if (chance.chance(0.9)) pages.splice(at, 1);
    // Filters may change from page to page.
    const kept = chance.chance(0.9) ? parameters : [...parameters.slice(0, 2), ...this.#filters()];
    const sent = chance.chance(0.02) ? cursor.slice(0, -1) : cursor;
    return this.#searchWith(kept, 'next page', sent);
  }

  #searchWith(parameters: KnownPage['parameters'], name: string, cursor?: string): Request {
    this.#learn = ({ headers }) => {
      const next = /[?&]cursor=([\w-]+)>; rel="next"$/.exec(headers.link ?? '')?.[1];
      if (next !== undefined) this.#known.addPage({ parameters, cursor: next });
    };
    const all = cursor === undefined ? parameters : [...parameters, ['cursor', cursor] as const];
    const query = new URLSearchParams(all.map(([key, value]) => [key, value]));
    return request(name, 'GET', `/v1/events/nearby?${query}`, this.#key());
  }

  #create(fields: Body, agent = this.#known.agent(), name = 'create'): Request {
    const sent = this.#chance.chance(0.06) ? spoil(this.#chance, fields) : fields;
    this.#learn = (answer) => {
      const { event_id, agent_id, ...stored } = parse(answer);
      agent.id = agent_id as string;
      this.#known.addEvent(event_id as string, agent, stored);
    };
    return request(name, 'POST', '/v1/events', this.#key(agent), sent);
  }

  /** Repeats a create, by the same or another agent, with other or nearly the same fields. */
  #repeat(): Request {
    const chance = this.#chance;
    const known = this.#known.event();
    if (!known) return this.#create(fieldsOf(chance, this.#time.nowMs));
    const { title, start_at, lat, lng } = known.fields;
    const same = { title, start_at: writeInstant(chance, Date.parse(start_at as string)), lat, lng };
    const nearly = chance.chance(0.15) ? { lat: (lat as number) * (1 - Number.EPSILON) } : {};
    const agent = chance.chance(0.7) ? known.owner : this.#known.agent();
    return this.#create({ ...fieldsOf(chance, this.#time.nowMs), ...same, ...nearly }, agent, 'repeat');
  }

  #patch(): Request {
    const chance = this.#chance;
    const agent = this.#known.agent();
    const event = this.#known.eventOf(agent);
    const caller = event && chance.chance(0.9) ? event.owner : agent;
    const update = this.#update(caller);
    const sent = chance.chance(0.08) ? spoil(chance, update) : update;
    this.#learn = (answer) => {
      const { event_id: _, agent_id: __, ...stored } = parse(answer);
      if (event) event.fields = stored;
    };
    const headers = { ...this.#key(caller), ...this.#condition('if-match', 0.2) };
    return request('patch', 'PATCH', this.#pathOf(event), headers, sent);
  }

  #update(caller: KnownAgent): Body {
    const chance = this.#chance;
    const twin = chance.chance(0.2) ? this.#known.eventOf(caller) : undefined;
    if (twin) {
      const { title, start_at, lat, lng } = twin.fields;
      return { title, start_at, lat, lng, ...(chance.chance(0.5) ? { end_at: null } : {}) };
    }
    const fields = fieldsOf(chance, this.#time.nowMs);
    const names = chance.some(Object.keys(fields), chance.pick([0.1, 0.5]));
    const update = Object.fromEntries(names.map((name) => [name, fields[name]]));
    for (const name of chance.some(['description', 'end_at', 'address', 'url', 'cost'], 0.08))
      update[name] = null;
    if (chance.chance(0.1)) update.description = textOf(chance).repeat(5);
    return update;
  }

  #deleteEvent(): Request {
    const agent = this.#known.agent();
    const event = this.#known.eventOf(agent);
    const caller = event && this.#chance.chance(0.8) ? event.owner : agent;
    const headers = { ...this.#key(caller), ...this.#condition('if-match', 0.3) };
    return request('delete', 'DELETE', this.#pathOf(event), headers);
  }

  #get(): Request {
    const method = this.#chance.chance(0.05) ? 'HEAD' : 'GET';
    const format = this.#chance.chance(0.3) ? `&format=${this.#chance.pick([...FORMATS, 'xml'])}` : '';
    const include = this.#chance.chance(0.2) ? `&include=${this.#chance.pick(INCLUDES)},updated_at` : '';
    const query = `${format}${include}`.replace('&', '?');
    const headers = { ...this.#key(), ...this.#condition('if-none-match', 0.3) };
    return request('get', method, this.#pathOf(this.#known.event()) + query, headers);
  }

  /** Sometimes a condition on a version that the event may have. */
  #condition(header: string, probability: number): Record<string, string> {
    if (!this.#chance.chance(probability)) return {};
    const version = this.#chance.pick([1, 1, 1, 2, 3]);
    return { [header]: this.#chance.pick([`"${version}"`, `"${version}-ics"`, `W/"${version}"`, '*']) };
  }

  #pathOf(event: KnownEvent | undefined): string {
    if (event && this.#chance.chance(0.98)) return `/v1/events/${event.id}`;
    return `/v1/events/${this.#chance.chance(0.5) ? this.#chance.ulid() : 'unknown'}`;
  }

  #administer(): Request {
    const chance = this.#chance;
    const agent = chance.chance(0.05) ? chance.pick(this.#known.goneAgents) : this.#known.agent();
    const path = `/v1/admin/agents/${agent?.id ?? '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90'}`;
    const kind = chance.next();
    if (kind < 0.2) return this.#listAgents();
    if (kind < 0.45) return administer('list events of agent', 'GET', `${path}/events`);
    if (kind < 0.82) return administer('update agent', 'PATCH', path, this.#agentUpdate());
    if (kind < 0.96) {
      const ofAny = this.#pathOf(this.#known.event()).replace('/v1', '/v1/admin');
      return administer('delete any event', 'DELETE', ofAny);
    }
    if (kind < 0.98) return administer('delete events of agent', 'DELETE', `${path}/events`);
    if (agent?.id !== undefined && this.#known.agents.includes(agent)) this.#known.removeAgent(agent);
    return administer(
      'delete agent',
      'DELETE',
      path.toUpperCase().replace('/V1/ADMIN/AGENTS', '/v1/admin/agents'),
    );
  }

  #listAgents(): Request {
    this.#learn = (answer) => {
      const { agents } = parse(answer) as { agents: { id: string; agent_name: string }[] };
      for (const agent of this.#known.agents)
        agent.id ??= agents.find(({ agent_name }) => agent_name === agent.name)?.id;
    };
    return administer('list agents', 'GET', '/v1/admin/agents');
  }

  /** Leaves most agents active and able to write. */
  #agentUpdate(): Body {
    const chance = this.#chance;
    const update: Body = {};
    if (chance.chance(0.7)) update.is_active = chance.chance(0.9);
    if (chance.chance(0.6)) update.tier = chance.chance(0.4) ? 'readwrite' : chance.pick([...TIERS, 'owner']);
    return update;
  }

  #key(agent = this.#known.agent()): Record<string, string> {
    const chance = this.#chance;
    const sender = chance.chance(0.01) ? chance.pick([...this.#known.goneAgents, agent]) : agent;
    const [aside] = sender.oldKeys;
    if (aside !== undefined && chance.chance(0.02)) return { 'x-api-key': aside };
    if (chance.chance(0.003)) return chance.pick([{}, { 'x-api-key': `${sender.key}x` }]);
    return { 'x-api-key': sender.key };
  }
}
