// One agent as administrators see it: the summary of the list, how much of its limits it uses, and its keys.

import type { Static } from 'typebox';
import { type AgentRecord, AgentSummary, summarise } from '../agent.ts';
import type { KeyRecord } from '../api-key.ts';
import { formatInstant } from '../datetime.ts';
import { KeySummary, OwnAgentResponse, type WordShare } from '../own-agent.ts';
import type { AgentLimits } from '../policy.ts';
import Type from '../schema.ts';
import { nullableString } from '../shape.ts';

/** A key that works, or would if its agent were active. */
export interface KeyDetails extends KeyRecord {
  readonly key_hash: string;
  /** Null if the key was never used, or not since uses of keys are recorded. */
  readonly last_used_ms: number | null;
}

export interface AgentDetails {
  readonly agent: AgentRecord;
  /** UTF-8 bytes of the JSON of its events. */
  readonly eventBytes: number;
  /** The oldest first. */
  readonly keys: readonly KeyDetails[];
  /** Undefined if no event is refused for its words. */
  readonly words: WordShare | undefined;
}

const used = (description: string) => Type.Integer({ minimum: 0, description, examples: [1] });

const limitOf = (what: string, example: number) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
    description: `${what} null: no limit.`,
    examples: [example],
  });

const RequestsUsed = Type.Object({
  used: used(
    'Requests in the current window. On several nodes, up to 0.5 % of the limit too high for each other node.',
  ),
  limit: Type.Integer({ minimum: 1, description: 'Requests per hour.', examples: [10_000] }),
  resets_at: nullableString({
    format: 'date-time',
    description: 'When the window ends; null while none has begun.',
    examples: ['2026-11-15T11:00:00.000Z'],
  }),
});

const Stored = Type.Object({
  events: Type.Object({
    used: used('Number of its events, including ended ones.'),
    limit: limitOf('Events that it may have.', 100_000),
  }),
  bytes: Type.Object({
    used: used('Bytes of the JSON of its events.'),
    limit: limitOf('Bytes that it may store.', 104_857_600),
  }),
});

/** What an agent may do, as it sees itself. Without `key` if it signed in instead. */
export const OwnLimits = Type.Object({
  ...OwnAgentResponse.properties,
  key: Type.Optional(KeySummary),
  limits: Stored,
});

const Quotas = Type.Object({
  requests: Type.Union([RequestsUsed, Type.Null()], {
    description: 'null: no limit, and requests are not counted.',
    examples: [{ used: 1, limit: 10_000, resets_at: '2026-11-15T11:00:00.000Z' }],
  }),
  ...Stored.properties,
});

const AdminKey = Type.Object({
  ...KeySummary.properties,
  last_used_at: nullableString({
    format: 'date-time',
    description:
      'Time of the last request with this key, accurate to 10 seconds; null: none since these times are recorded.',
    examples: ['2026-11-15T10:02:11.000Z'],
  }),
});

export const AgentDetailsResponse = Type.Object({
  ...AgentSummary.properties,
  quota: Quotas,
  keys: Type.Array(AdminKey, {
    description: 'Keys that have not expired, the oldest first. Those of a deactivated agent are refused.',
  }),
});

/** Requests of an hour's window; undefined: no limit. */
export interface WindowUse {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

export function describeAgentDetails(
  { agent, eventBytes, keys }: Omit<AgentDetails, 'words'>,
  requests: WindowUse | undefined,
  limits: AgentLimits,
): Static<typeof AgentDetailsResponse> {
  return {
    ...summarise(agent),
    quota: {
      requests: requests ? describeWindow(requests) : null,
      ...describeStored({ agent, eventBytes }, limits),
    },
    keys: keys.map(({ prefix, created_ms, expires_ms, last_used_ms }) => ({
      prefix,
      created_at: formatInstant(created_ms),
      expires_at: expires_ms === null ? null : formatInstant(expires_ms),
      last_used_at: last_used_ms === null ? null : formatInstant(last_used_ms),
    })),
  };
}

export function describeStored(
  { agent, eventBytes }: Pick<AgentDetails, 'agent' | 'eventBytes'>,
  { maxEventsPerAgent, maxBytesPerAgent }: AgentLimits,
): Static<typeof Stored> {
  return {
    events: { used: agent.event_count, limit: maxEventsPerAgent || null },
    bytes: { used: eventBytes, limit: maxBytesPerAgent || null },
  };
}

function describeWindow({ limit, remaining, resetMs }: WindowUse) {
  const count = limit - remaining;
  return { used: count, limit, resets_at: count > 0 ? formatInstant(resetMs) : null };
}
