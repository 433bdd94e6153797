// How rows cross the line: many in one parameter, as JSON that PostgreSQL takes apart by the columns of the table; and back
// as the bytes that they are.
import { columnsOf, type Kind, type Table } from '../domain/transfer.ts';
import type { Wire } from '../domain/wire.ts';

const TYPES: Readonly<Record<Kind, string>> = {
  text: 'text',
  uuid: 'uuid',
  integer: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
};

/** Inserts the rows of the first parameter; what becomes of those that are there already is to follow. */
export function insertRecords(table: Table): string {
  const columns = columnsOf(table);
  const names = columns.map(([name]) => name).join(', ');
  const typed = columns.map(([name, kind]) => `${name} ${TYPES[kind]}`).join(', ');
  return `INSERT INTO ${table} (${names})
    SELECT ${names} FROM json_to_recordset($1::text::json) AS sent (${typed})`;
}

/** The bytes of a text column are UTF-8, and so is the wire form: nothing needs to be decoded. */
export function wireOf(bytes: Buffer | null | undefined): Wire {
  return bytes!.toString('latin1') as Wire;
}
