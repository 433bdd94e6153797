// Many rows in one parameter: a list of objects as JSON, which PostgreSQL takes apart by the columns of the table.
import { columnsOf, type Kind, type Table } from '../domain/vault.ts';

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
