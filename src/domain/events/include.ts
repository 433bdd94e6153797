// `include`: what responses add to an event on request.
import { formatInstant, formatLocal } from '../datetime.ts';
import Type, { nameShapes } from '../schema.ts';
import { nullableString, oneOf } from '../shape.ts';
import { fromWire, type Wire } from '../wire.ts';
import { EVENT_EXAMPLE, Event } from './event.ts';

/** For lists of events and for single ones. A search also takes `distance`, which needs a centre. */
export const INCLUDES = ['local', 'status', 'updated_at'] as const;
export type Include = (typeof INCLUDES)[number];

const DESCRIPTIONS = {
  local: '`local` adds start_local and end_local: the times with the offset of the event’s timezone',
  status: '`status` adds status to scheduled events, too',
  updated_at: '`updated_at` adds when the event last changed',
  distance: '`distance` adds distance_miles, the distance from the centre',
};

/** The parameter `include` with these values. */
export function includeParameter<const Name extends keyof typeof DESCRIPTIONS>(names: readonly Name[]) {
  const description = `${names.map((name) => DESCRIPTIONS[name]).join('; ')}. For json and geojson. Repeat it, or separate values by commas.`;
  return Type.Optional(Type.Array(oneOf(names), { description }));
}

/** Parameters of a query, with the values of `include` split at commas. */
export function splitIncludes<T extends { include?: unknown }>(values: T): T {
  if (!Array.isArray(values.include)) return values;
  return { ...values, include: values.include.flatMap((text: string) => text.split(',')) };
}

export const INCLUDED = {
  updated_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When the event last changed; at first, created_at. Only with include=updated_at.',
    }),
  ),
  start_local: Type.Optional(
    Type.String({ format: 'date-time', description: 'start_at as local time. Only with include=local.' }),
  ),
  end_local: Type.Optional(
    nullableString({ format: 'date-time', description: 'end_at as local time. Only with include=local.' }),
  ),
};

/** An event that is read by its ID, or in a list of own events. */
export const ReadEvent = Type.Object({ ...Event.properties, ...INCLUDED }, { examples: [EVENT_EXAMPLE] });

nameShapes({ ReadEvent });

/** The member of an event that is not scheduled. No text of an event has this: quotes in texts are escaped. */
const CANCELLED = '"status":"cancelled"';

/** Adds what is asked for to the JSON of an event, except its local times. Only `updated_at` needs `updatedMs`. */
export function addIncluded(wire: Wire, includes: readonly Include[], updatedMs: number | undefined): Wire {
  let added = '';
  if (includes.includes('status') && !wire.includes(CANCELLED)) added = ',"status":"scheduled"';
  if (includes.includes('updated_at')) added += `,"updated_at":"${formatInstant(updatedMs!)}"`;
  return added === '' ? wire : (`${wire.slice(0, -1)}${added}}` as Wire);
}

/** Adds start_local and end_local to the JSON of an event. */
export function addLocalTimes(wire: Wire): Wire {
  const { start_at, end_at, timezone } = JSON.parse(fromWire(wire)) as Event;
  const local = (time: string) => `"${formatLocal(Date.parse(time), timezone)}"`;
  const end = end_at ? local(end_at) : null;
  return `${wire.slice(0, -1)},"start_local":${local(start_at)},"end_local":${end}}` as Wire;
}
