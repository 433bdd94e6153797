// Rows as parameters of statements, and results as bytes. Statements about events are built from the table of columns.
import { type ColumnKind, EVENT_COLUMNS, type EventRow } from '../domain/event.ts';
import { columnsOf, type Table } from '../domain/transfer.ts';
import type { Wire } from '../domain/wire.ts';

const TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'text',
  uuid: 'uuid',
  integer: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
};

/** Statement that inserts the rows of the first parameter. The caller appends an ON CONFLICT clause. */
export function insertRecords(table: Table): string {
  const columns = columnsOf(table);
  const names = columns.map(([name]) => name).join(', ');
  const typed = columns.map(([name, kind]) => `${name} ${TYPES[kind]}`).join(', ');
  return `INSERT INTO ${table} (${names})
    SELECT ${names} FROM json_to_recordset($1::text::json) AS sent (${typed})`;
}

const CREATED = EVENT_COLUMNS.filter(([name]) => name !== 'version');
const REPLACED = EVENT_COLUMNS.filter(([name]) => name !== 'event_id' && name !== 'agent_id');

/** Calls create_event, whose parameters are the columns of a new event in order, its JSON, and the agent's limit. */
export const CREATE_EVENT = `SELECT * FROM create_event(${[
  ...CREATED.map(([, kind], at) => `$${at + 1}::${TYPES[kind]}`),
  `$${CREATED.length + 1}::text`,
  `$${CREATED.length + 2}::integer`,
].join(', ')})`;

export function createValues(row: EventRow, json: string, maxPerAgent: number): Value[] {
  return [...CREATED.map(([name]) => row[name]), json, maxPerAgent];
}

/** Compare and set: updates the event only if its version is the one before. */
export const REPLACE_EVENT = `UPDATE events SET ${[
  ...REPLACED.map(([name, kind], at) => `${name} = $${at + 1}::${TYPES[kind]}`),
  `json = $${REPLACED.length + 1}::text`,
].join(', ')} WHERE event_id = $${REPLACED.length + 2}::text AND version = $${REPLACED.length + 3}::integer`;

export function replaceValues(next: EventRow, json: string): Value[] {
  return [...REPLACED.map(([name]) => next[name]), json, next.event_id, next.version - 1];
}

type Value = string | number | null;

/** The bytes of a text column are UTF-8, and so is the wire form: nothing needs to be decoded. */
export function wireOf(bytes: Buffer | null | undefined): Wire {
  return bytes!.toString('latin1') as Wire;
}
