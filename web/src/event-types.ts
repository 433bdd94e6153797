// The types of events, for a filter. The type check fails if one is missing.
import type { AgentEvent } from './api.ts';

const ALL: Readonly<Record<AgentEvent['event_type'], true>> = {
  workshop: true,
  performance: true,
  festival: true,
  market: true,
  competition: true,
  game: true,
  social: true,
  meetup: true,
  club: true,
  support: true,
  talk: true,
  conference: true,
  exhibition: true,
  tour: true,
  ceremony: true,
};

export const EVENT_TYPES: readonly string[] = Object.keys(ALL);
