// The official conformance suite against the real wiring: hooks, access, handler and responses are the service's own, only
// the tools are the suite's. The suite has no key, so a proxy adds one to its requests.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/config.ts';
import { openStore } from '../../src/engines.ts';
import { mcpHandler } from '../../src/mcp/server.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import type { Context } from '../../src/usecases/context.ts';
import { register } from '../../src/usecases/own-agent.ts';
import { bareServer, listen } from '../support/bare-server.ts';
import { launchCommand } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { fixtureServer } from './conformance-fixtures.ts';

const PACKAGE = new URL('../../node_modules/@modelcontextprotocol/conformance/', import.meta.url);
const SUITE = fileURLToPath(new URL('dist/index.js', PACKAGE));

const ASKS_BACK =
  'The server asks the client something while its tool runs, and the answer comes with another request. That takes a session; there are none, and no tool of ours asks.';

/** Required scenarios that do not apply to a server without sessions, and why. Everything else must pass. */
const NOT_APPLICABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2026-07-28': {},
  '2025-11-25': {
    'tools-call-sampling': ASKS_BACK,
    'tools-call-elicitation': ASKS_BACK,
    'elicitation-sep1034-defaults': ASKS_BACK,
    'elicitation-sep1330-enums': ASKS_BACK,
    'server-sse-multiple-streams':
      'It opens several streams in one session, and stops with a warning where there is no session.',
  },
};

describe('the conformance suite', () => {
  let url: string;
  let close: () => Promise<unknown>;
  before(async () => {
    const config = readConfig({ DATA_DIR: temporaryFolder(), RATE_LIMIT_READWRITE: '0' });
    const store = await openStore(config, systemClock());
    const context = {
      store,
      clock: systemClock,
      random: systemRandom,
      policy: config.policy,
    } as unknown as Context;
    const app = bareServer({
      baseUrl: () => url,
      context,
      mcp: mcpHandler(fixtureServer),
    });
    const { api_key } = await register(context, 'here', { email: 'suite@example.com', agent_name: 'suite' });
    const proxy = await startKeyProxy(Number(new URL(await listen(app)).port), api_key);
    url = `http://127.0.0.1:${proxy.port}/mcp`;
    close = async () => {
      proxy.close();
      await app.close();
      await store.close();
    };
  });
  after(() => close());

  for (const [revision, reasons] of Object.entries(NOT_APPLICABLE)) {
    it(`passes every scenario that revision ${revision} requires and that applies`, async () => {
      const folder = temporaryFolder();
      const baseline = join(folder, 'baseline.yml');
      writeFileSync(baseline, `server: ${JSON.stringify(Object.keys(reasons))}\n`);
      const options = ['--requirements', revision, '--expected-failures', baseline, '-o', folder];
      const ended = launchCommand(process.execPath, [SUITE, 'server', '--url', url, ...options]).ended;
      const { code, stdout, stderr } = await ended;
      assert.equal(code, 0, stdout.slice(-4_000) + stderr);
      const passed = new Set(
        [...stdout.matchAll(/^✓ ([\w-]+): [1-9]\d* passed, 0 failed/gm)].map(([, name]) => name!),
      );
      const required = requiredScenarios(revision);
      assert.ok(required.length >= 30);
      assert.deepEqual(
        required.filter((name) => !passed.has(name)),
        required.filter((name) => name in reasons),
      );
    });
  }
});

/** Required scenarios for a server, as the suite lists them. */
function requiredScenarios(revision: string): string[] {
  const list = readFileSync(new URL(`requirements/${revision}.yaml`, PACKAGE), 'utf8');
  const [, section = ''] = /^server:\n((?: {2}- .+\n)+)/m.exec(list) ?? [];
  return [...section.matchAll(/- ([\w-]+)/g)].map(([, name]) => name!);
}

/** Forwards everything unchanged, Host and Origin included, and adds the key. */
async function startKeyProxy(port: number, key: string): Promise<{ port: number; close: () => void }> {
  const proxy = createServer((incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    const onward = send({ host: '127.0.0.1', port, method, path, headers: { ...headers, 'x-api-key': key } });
    onward.on('response', (response) => {
      outgoing.writeHead(response.statusCode!, response.headers);
      response.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    close: () => {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}
