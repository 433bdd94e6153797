// Bulk work on PostgreSQL.
import { after, before, describe } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { PostgresBulkReader, PostgresBulkWriter } from '../../src/postgres/bulk.ts';
import { type BulkEngine, bulkContract } from '../store/contract-bulk.ts';
import { newDatabase } from '../support/postgres.ts';

describe('bulk work on PostgreSQL', () => {
  let engine: BulkEngine;
  before(async () => {
    const database = readConfig({ DATABASE_URL: await newDatabase() }).database!;
    const writer = await PostgresBulkWriter.open(database);
    engine = { writer, openReader: () => PostgresBulkReader.openExport(database) };
  });
  after(() => engine.writer.close());

  bulkContract(() => engine);
});
