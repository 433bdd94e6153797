// Events and searches all over the globe: circles from a metre to half the circumference, around poles, on the antimeridian
// and the equator, on events, opposite to them, and with rims that miss events by millimetres.
import { AUDIENCES, EVENT_TYPES, type EventRow } from '../../src/domain/events/event.ts';
import { EARTH_RADIUS_METRES, METRES_PER_MILE } from '../../src/domain/events/geo.ts';
import { ALL_EVENTS, type NearbyQuery } from '../../src/domain/events/nearby.ts';
import { World } from '../spatial/world.ts';
import { newEventRow } from '../store/rows.ts';
import { Chance } from '../support/random.ts';

export interface Place {
  readonly lat: number;
  readonly lng: number;
}

const HALF_CIRCUMFERENCE_METRES = Math.PI * EARTH_RADIUS_METRES;

/** The index measures chords, which hardly change near the antipode: closer than this, a millimetre makes no difference. */
const ANTIPODE_METRES = 100;

/** Distances from an event at which a rim is placed on purpose. */
const RIM_METRES = [0, 1e-9, 1e-6, 2e-3, 0.1];

/**
 * The great-circle distance from the cross and the dot product: exact to some nanometres at every distance, even close to
 * the antipode, where haversine loses decimetres and chords nearly as much.
 */
export function metresBetween(a: Place, b: Place): number {
  const [ax, ay, az] = vectorOf(a);
  const [bx, by, bz] = vectorOf(b);
  const cross = Math.hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
  return EARTH_RADIUS_METRES * Math.atan2(cross, ax * bx + ay * by + az * bz);
}

function vectorOf({ lat, lng }: Place): [x: number, y: number, z: number] {
  const phi = (lat * Math.PI) / 180;
  const lambda = (lng * Math.PI) / 180;
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

export class Globe {
  readonly rows: readonly EventRow[];
  readonly #chance: Chance;
  readonly #world: World;

  constructor(seed: number, agent: { readonly agent_id: string }, events: number) {
    this.#chance = new Chance(seed);
    this.#world = new World(this.#chance);
    this.rows = Array.from({ length: events }, () => {
      const { id, startMs, endsMs, lat, lng } = this.#world.entry();
      const [event_type, audience] = [this.#chance.pick(EVENT_TYPES), this.#chance.pick(AUDIENCES)];
      const times = { start_ms: startMs, end_ms: endsMs };
      return newEventRow(agent, { event_id: id, ...times, lat, lng, event_type, audience });
    });
  }

  query(): NearbyQuery {
    const chance = this.#chance;
    const centre = this.#centre();
    const fromMs = chance.chance(0.15) ? chance.pick(this.rows).start_ms : undefined;
    const before = chance.chance(0.15) ? chance.pick(this.rows).start_ms : undefined;
    const types = chance.chance(0.2) ? chance.some(EVENT_TYPES) : [];
    const audiences = chance.chance(0.2) ? chance.some(AUDIENCES) : [];
    return {
      ...ALL_EVENTS,
      ...centre,
      radiusMiles: chance.chance(0.02) ? undefined : this.#radiusMetres(centre) / METRES_PER_MILE,
      types: types.length > 0 ? types : undefined,
      audiences: audiences.length > 0 ? audiences : undefined,
      startsFromMs: fromMs,
      startsBeforeMs: before,
      limit: 100,
    };
  }

  #centre(): Place {
    const chance = this.#chance;
    const event = chance.pick(this.rows);
    const lng = chance.pick([180, -180, 0, chance.between(-180, 180)]);
    const kind = chance.next();
    if (kind < 0.2) return { lat: event.lat, lng: event.lng };
    if (kind < 0.25) return { lat: -event.lat, lng: event.lng > 0 ? event.lng - 180 : event.lng + 180 };
    if (kind < 0.32) return { lat: chance.pick([90, -90]), lng };
    if (kind < 0.4) return { lat: chance.between(-90, 90), lng: chance.pick([180, -180]) };
    if (kind < 0.48) return { lat: 0, lng };
    if (kind < 0.75) return this.#world.place();
    return {
      lat: (Math.asin(chance.between(-1, 1)) * 180) / Math.PI,
      lng: chance.between(-180, 180),
    };
  }

  #radiusMetres(centre: Place): number {
    const chance = this.#chance;
    const kind = chance.next();
    if (kind < 0.01) return HALF_CIRCUMFERENCE_METRES;
    if (kind < 0.1) {
      const exact = metresBetween(centre, chance.pick(this.rows));
      const near = exact + chance.pick([1, -1]) * chance.pick(RIM_METRES);
      return Math.min(HALF_CIRCUMFERENCE_METRES - ANTIPODE_METRES, Math.max(0, near));
    }
    return HALF_CIRCUMFERENCE_METRES ** chance.next();
  }
}
