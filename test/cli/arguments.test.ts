// Invalid arguments of every command: exit code 2 with the usage on standard error, and nothing is made. Those of `move` have reasons of
// their own, in move.test.ts.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newApiKey } from '../../src/domain/api-key.ts';
import { systemRandom } from '../../src/system.ts';
import { runHere } from '../support/command.ts';
import { temporaryFolder } from '../support/service.ts';
import { NEW_AGENT } from './bulk.ts';

const ID = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';
const EMAIL = ['--email', 'ada@example.com'];

const REFUSED: Record<string, readonly (readonly string[])[]> = {
  'admin-token': [
    [],
    ['--email', 'ada'],
    [...EMAIL, '--hours', '24.001'],
    [...EMAIL, '--hours', '0'],
    [...EMAIL, '--tier', 'admin'],
    [...EMAIL, 'extra'],
  ],
  agents: [
    ...[[], ['nothing'], ['list', ID], ['list', '--nope'], ['show'], ['show', 'x'], ['deactivate', ID, ID]],
    ...[
      ['set-tier', ID],
      ['set-tier', ID, 'king'],
      ['show', ID, '--key-file', 'x'],
    ],
    ['new-key', ID, '--key-file', ''],
  ],
  backup: [
    ...[[], [''], ['a', 'b'], ['--force', 'a'], ['--keep', '3'], ['--keep', '3', 'a', 'b']],
    ...[
      ['--keep', '0', 'a'],
      ['--keep', 'x', 'a'],
      ['--keep', '1.5', 'a'],
    ],
  ],
  check: [['x']],
  export: [['--agent', 'nonsense'], ['--out', ''], ['--nope'], ['file']],
  import: [
    NEW_AGENT,
    ['a'],
    ['a', 'b', ...NEW_AGENT],
    ['a', ...NEW_AGENT, '--key-stdin'],
    ['a', '--email', 'a@example.com'],
    ['a', '--name', 'A'],
    ['a', '--email', 'nonsense', '--name', 'A'],
    ['-', '--key-stdin'],
    ['a', '--nope'],
    ['a', '--key-stdin', '--key-file', 'b'],
    ['a', ...NEW_AGENT, '--key-file', ''],
    ['a', ...NEW_AGENT, '--format', 'csv'],
    ['a.ics', ...NEW_AGENT, '--event-type', 'party'],
    ['a.ics', ...NEW_AGENT, '--audience', 'dogs'],
    ['a.ics', ...NEW_AGENT, '--timezone', 'Berlin'],
    ['a.ics', ...NEW_AGENT, '--lat=1'],
    ['a.ics', ...NEW_AGENT, '--lat=x', '--lng=1'],
    ['a.ics', ...NEW_AGENT, '--lat=', '--lng=1'],
    ['a.ics', ...NEW_AGENT, '--lat=1', '--lng=181'],
    ['a.ndjson', ...NEW_AGENT, '--event-type', 'talk'],
  ],
  mcp: [
    [],
    ['--url', ''],
    ['--url', '127.0.0.1:8080'],
    ['--url', 'ftp://example.com'],
    ['--url', 'http://example.com/?a=b'],
    ['--url', 'http://me:secret@example.com'],
    ['--key', 'x', '--url', 'http://example.com'],
  ],
  restore: [[], [''], ['a', 'b'], ['--force', 'a'], ['--keep', '3', 'a']],
  serve: [['--port', '1234']],
};

describe('invalid arguments', () => {
  for (const [command, list] of Object.entries(REFUSED)) {
    for (const args of list) {
      it(`${command} ${args.join(' ')}`, async () => {
        const DATA_DIR = join(temporaryFolder(), 'data');
        const env = { DATA_DIR, LOCAL_EVENTS_API_KEY: newApiKey(systemRandom) };
        const { code, stdout, stderr } = await runHere([command, ...args], env);
        assert.deepEqual([code, stdout], [2, ''], stderr);
        assert.match(stderr, /^Usage:/m);
        assert.doesNotMatch(stderr, /^ +at |secret/m);
        assert.ok(!existsSync(DATA_DIR), 'nothing was made');
      });
    }
  }
});
