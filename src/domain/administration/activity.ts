// What was created lately, for administrators who look for abuse: events per agent in the last day and week, and events and
// agents per day. Counts are of what is stored: what was deleted since does not count.

import type { Static } from 'typebox';
import { DAY_MS } from '../clock-and-random.ts';
import { firstUlidAt } from '../ids.ts';
import Type from '../schema.ts';
import { reader } from '../shape.ts';

/** How many events an agent created in the last 24 hours and 7 days. */
export interface AgentActivity {
  readonly events_24h: number;
  readonly events_7d: number;
}

/** Numbers of events and agents that were created within some time. */
export interface Created {
  readonly events: number;
  readonly agents: number;
}

const WINDOWS_MS: Readonly<Record<keyof AgentActivity, number>> = {
  events_24h: DAY_MS,
  events_7d: 7 * DAY_MS,
};

/** Events whose IDs do not sort before this one were created within the window: an ID begins with its time. */
export function firstIdOf(window: keyof AgentActivity, nowMs: number): string {
  return firstUlidAt(nowMs - WINDOWS_MS[window]);
}

/** Whether a list is sorted by activity. */
export function isWindow(sort: string): sort is keyof AgentActivity {
  return sort in WINDOWS_MS;
}

const field = (time: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      description: `Its events that were created in the last ${time} and still exist. Only with include=activity.`,
      examples: [1],
    }),
  );

export const ACTIVITY_FIELDS = { events_24h: field('24 hours'), events_7d: field('7 days') };

export const ActivityParameters = Type.Object({
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 366, default: 30, description: 'How many days; today is the last.' }),
  ),
});

export const ActivityResponse = Type.Object({
  days: Type.Array(
    Type.Object({
      date: Type.String({ format: 'date', examples: ['2026-11-15'] }),
      events: Type.Integer({ minimum: 0, examples: [3] }),
      agents: Type.Integer({ minimum: 0, examples: [1] }),
    }),
    {
      description: 'The days in UTC, the oldest first. Counts what was created on that day and still exists.',
    },
  ),
});

/** The number of days. Throws VALIDATION_ERROR. */
export function readActivityDays(parameters: object): number {
  return readParameters(parameters).days!;
}

const readParameters = reader(ActivityParameters, 'query');

/** When each of the last days begins, in UTC. */
export function beginningsOfDays(days: number, nowMs: number): number[] {
  const today = Math.floor(nowMs / DAY_MS);
  return Array.from({ length: days }, (_, at) => (today - days + 1 + at) * DAY_MS);
}

export function describeDay(
  fromMs: number,
  { events, agents }: Created,
): Static<typeof ActivityResponse>['days'][number] {
  return { date: new Date(fromMs).toISOString().slice(0, 10), events, agents };
}
