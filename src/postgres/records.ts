// Row formats on the connection: many rows in one JSON parameter, which PostgreSQL splits into columns; and JSON columns
// read back as raw bytes.
import { columnsOf, type Kind, type Table } from '../domain/transfer.ts';
import type { Wire } from '../domain/wire.ts';

const TYPES: Readonly<Record<Kind, string>> = {
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

/** Text columns and Wire are both UTF-8 bytes, so nothing is decoded. */
export function wireOf(bytes: Buffer | null | undefined): Wire {
  return bytes!.toString('latin1') as Wire;
}
