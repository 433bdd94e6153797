// Formats of rows on the connection: many rows in one JSON parameter, and JSON columns read as raw bytes.
import type { ColumnKind } from '../domain/events/event.ts';
import { columnsOf, type Table } from '../domain/transfer.ts';
import type { Wire } from '../domain/wire.ts';

/** SQL types of columns. */
export const TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'text',
  uuid: 'uuid',
  integer: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
};

/**
 * Statement that inserts the rows of the first parameter. The caller appends an ON CONFLICT clause. `computed` are SQL expressions of
 * more columns, from text fields of the same names.
 */
export function insertRecords(table: Table, computed: Readonly<Record<string, string>> = {}): string {
  const columns = columnsOf(table);
  const names = columns.map(([name]) => name);
  const typed = columns.map(([name, kind]) => `${name} ${TYPES[kind]}`);
  const more = Object.keys(computed);
  return `INSERT INTO ${table} (${[...names, ...more].join(', ')})
    SELECT ${[...names, ...Object.values(computed)].join(', ')}
    FROM json_to_recordset($1::text::json) AS sent (${[...typed, ...more.map((name) => `${name} text`)].join(', ')})`;
}

/** A text column as Wire: both are the bytes of UTF-8, so nothing is decoded. */
export function wireOf(bytes: Buffer | null | undefined): Wire {
  return bytes!.toString('latin1') as Wire;
}

/** A number of a column that is not null. */
export function numberOf(bytes: Buffer | null | undefined): number {
  return Number(bytes!.toString('latin1'));
}
