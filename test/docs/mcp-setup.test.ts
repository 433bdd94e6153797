// Every setting of an MCP client that docs/mcp.md prints connects, and finds the tools. README has one line, which its own test runs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TOOLS } from '../../src/mcp/tools.ts';
import { cleanEnv } from '../support/process.ts';
import { useTestService } from '../support/service.ts';
import { connectBy, type Setting, standInForClaude } from './mcp-setup.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Code blocks of a document in one language. */
function blocksOf(document: string, language: string): string[] {
  const text = readFileSync(`${ROOT}/${document}`, 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, block]) => block!,
  );
}

describe('settings of MCP clients', () => {
  const service = useTestService();
  let key: string;
  before(async () => {
    const agent = await service.newAgent();
    key = agent.headers['x-api-key']!;
    await agent.create();
  });

  /** Replaces the placeholders with this service, this key and this clone. */
  const fill = (text: string) =>
    text
      .replaceAll('http://127.0.0.1:8080', service.url)
      .replaceAll('/path/to/local-events', ROOT)
      .replaceAll(
        /lev_…|\$\{(?:env:LOCAL_EVENTS_API_KEY|input:local-events-key)\}|\$LOCAL_EVENTS_API_KEY/g,
        key,
      );

  const documents = { 'README.md': 0, 'docs/mcp.md': 5 };
  for (const [document, expected] of Object.entries(documents)) {
    const settings = blocksOf(document, 'json').filter((block) => block.includes('ervers"'));

    it(`appear ${expected} times in ${document}`, () => assert.equal(settings.length, expected));

    for (const [at, block] of settings.entries()) {
      it(`connect as ${document} prints them: ${at + 1}`, async () => {
        const { mcpServers, servers = mcpServers } = JSON.parse(fill(block)) as Record<string, object>;
        const [[name, setting], ...others] = Object.entries(servers!) as [[string, Setting]];
        assert.deepEqual([name, others], ['local-events', []]);
        const client = await connectBy(setting);
        assert.equal((await client.client.listTools()).tools.length, TOOLS.length);
        assert.equal((await client.get('list_my_events')).total, 1);
        await client.close();
      });
    }
  }

  it('connect as docs/mcp.md prints them for Codex', async () => {
    const [block = '', ...others] = blocksOf('docs/mcp.md', 'toml');
    assert.deepEqual(others, []);
    const [, url = ''] = /^url = "(.+)"$/m.exec(fill(block)) ?? [];
    assert.match(
      block,
      /^\[mcp_servers\.local-events\]\n.*^bearer_token_env_var = "LOCAL_EVENTS_API_KEY"$/ms,
    );
    const client = await connectBy({ url, headers: { Authorization: `Bearer ${key}` } });
    assert.equal((await client.get('list_my_events')).total, 1);
    await client.close();
  });

  it('connect as docs/mcp.md prints them for Claude Code', async () => {
    const [line, ...others] = blocksOf('docs/mcp.md', 'sh');
    assert.deepEqual(others, [], 'a command that no test runs');
    const { folder, connect } = standInForClaude();
    const { PATH = '' } = process.env;
    const { status, stderr } = spawnSync('bash', ['-euc', fill(line!)], {
      env: cleanEnv({ PATH: `${folder}:${PATH}` }),
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    const client = await connect();
    assert.equal((await client.get('list_my_events')).total, 1);
    await client.close();
  });
});
