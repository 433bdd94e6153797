// What the service loads when it starts. Each start, of the service and of its tests, pays for it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from './support/service.ts';

const ROOT = pathToFileURL(join(import.meta.dirname, '../'));

/** Starts and closes a service, and prints what was loaded. */
const script = (folder: string) => `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
  const load = (file) => import(new URL(file, '${ROOT}'));
  const { startService } = await load('src/service.ts');
  const { readConfig } = await load('src/config.ts');
  const { pino } = await load('node_modules/pino/pino.js');
  const config = readConfig({ PORT: '0', DATA_DIR: ${JSON.stringify(folder)} });
  await (await startService(config, { logger: pino({ level: 'silent' }) })).close();
  console.log(JSON.stringify([...loaded, ...process.moduleLoadList]));
`;

it('the service starts without the library of /mcp, Ajv, fetch and the driver of PostgreSQL', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'start.mjs');
  writeFileSync(file, script(join(folder, 'data')));
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  const loaded = JSON.parse(stdout) as string[];
  assert.ok(loaded.some((name) => name.includes('/node_modules/fastify/')));
  assert.ok(loaded.includes('NativeModule http'));
  const late = /node_modules\/(?:@modelcontextprotocol|zod|ajv|postgres)\/|deps\/undici/;
  assert.deepEqual(
    loaded.filter((name) => late.test(name)),
    [],
  );
});
