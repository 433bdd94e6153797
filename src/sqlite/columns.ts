// Columns of agents and events, in the order that all threads use.
import type { AgentRecord, AgentRow } from '../domain/agent.ts';
import { EVENT_COLUMNS, type EventRow, encodeEvent } from '../domain/events/event.ts';

const NAMES = EVENT_COLUMNS.map(([name]) => name);

export const EVENT_COLUMN_LIST = [...NAMES, 'json'].join(', ');
export const EVENT_PLACEHOLDERS = [...NAMES, 'json'].map(() => '?').join(', ');

/** Values of a row in the order of its columns. */
export type ColumnValues = readonly (string | number | null)[];

/** Values of an event in the order of EVENT_COLUMNS. */
export function columnValues(row: EventRow, json = encodeEvent(row)): ColumnValues {
  return [...NAMES.map((name) => row[name]), json];
}

/** Types of these fields of a row, as a tuple. */
type Values<Row, Names extends readonly (keyof Row)[]> = { [At in keyof Names]: Row[Names[At]] };

const [ID, VERSION, AGENT, START, END, LAT, LNG, TITLE] = (
  ['event_id', 'version', 'agent_id', 'start_ms', 'end_ms', 'lat', 'lng', 'title'] as const
).map((name) => NAMES.indexOf(name)) as [number, number, number, number, number, number, number, number];

export function idOf(values: ColumnValues): string {
  return values[ID] as string;
}

export function versionOf(values: ColumnValues): number {
  return values[VERSION] as number;
}

/** UTF-8 bytes of the event's JSON, the last value. */
export function bytesOf(values: ColumnValues): number {
  return Buffer.byteLength(values.at(-1) as string);
}

/** Values that identify duplicate events, in the order of the index events_identity. */
export function identityOf(values: ColumnValues) {
  return [values[AGENT], values[START], values[LAT], values[LNG], values[TITLE]] as [
    agentId: string,
    startMs: number,
    lat: number,
    lng: number,
    title: string,
  ];
}

/** Values for the table event_order. */
export function orderOf(values: ColumnValues) {
  return [values[AGENT], values[START], values[ID], values[END]] as [
    agentId: string,
    startMs: number,
    eventId: string,
    endMs: number | null,
  ];
}

const NEW_AGENT_NAMES = ['agent_id', 'email', 'agent_name', 'tier', 'is_active', 'created_ms'] as const;

const AGENT_NAMES = [
  ...NEW_AGENT_NAMES,
  'last_used_ms',
  'event_count',
] as const satisfies readonly (keyof AgentRecord)[];

export const AGENT_COLUMNS = AGENT_NAMES.join(', ');

/** Columns of an agent that deleted_agents has, too. */
export const DELETED_AGENT_COLUMNS = [...NEW_AGENT_NAMES, 'last_used_ms'].join(', ');

/** Columns of a new agent; the others have defaults. */
export const NEW_AGENT_COLUMNS = NEW_AGENT_NAMES.join(', ');

/** Values in the order of NEW_AGENT_COLUMNS. */
export function newAgentValues(agent: AgentRow): ColumnValues {
  return NEW_AGENT_NAMES.map((name) => (name === 'is_active' ? Number(agent.is_active) : agent[name]));
}

/** An agent as read from SQLite, which has no booleans. */
export type AgentColumns = Omit<AgentRecord, 'is_active'> & { readonly is_active: 0 | 1 };

/** Agent from values in the order of AGENT_COLUMNS. */
export function agentOf(values: ColumnValues): AgentColumns {
  const [agent_id, email, agent_name, tier, is_active, created_ms, last_used_ms, event_count] =
    values as Values<AgentColumns, typeof AGENT_NAMES>;
  return { agent_id, email, agent_name, tier, is_active, created_ms, last_used_ms, event_count };
}
