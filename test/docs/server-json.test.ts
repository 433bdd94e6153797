// deploy/server.json against the format of MCP registries, of 2025-12-11, and what the official registry asks of remote servers besides.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { VERSION } from '../../src/system.ts';
import { useTestService } from '../support/service.ts';

/** The part of the format that a remote server uses; the format allows other members, this schema does not: they would be misspelt. */
const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
const only = (required: readonly string[], properties: object) => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
});
const header = only(['name'], {
  name: { type: 'string' },
  description: { type: 'string' },
  isRequired: { type: 'boolean' },
  isSecret: { type: 'boolean' },
});
const remote = only(['type', 'url'], {
  type: { enum: ['streamable-http', 'sse'] },
  url: { type: 'string', pattern: '^https?://[^\\s]+$' },
  headers: { type: 'array', items: header },
});
const SCHEMA = only(['$schema', 'name', 'description', 'version', 'remotes'], {
  $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
  name: { ...text(200), minLength: 3, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
  title: text(100),
  description: text(100),
  version: text(255),
  websiteUrl: { type: 'string', pattern: '^https://' },
  remotes: { type: 'array', minItems: 1, items: remote },
});

interface ServerJson {
  readonly name: string;
  readonly version: string;
  readonly websiteUrl: string;
  readonly remotes: readonly {
    readonly url: string;
    readonly headers?: readonly { readonly name: string }[];
  }[];
}

describe('deploy/server.json', () => {
  const service = useTestService();
  const server = JSON.parse(
    readFileSync(new URL('../../deploy/server.json', import.meta.url), 'utf8'),
  ) as ServerJson;

  it('has the format', () => {
    const ajv = new Ajv({ strict: true });
    assert.ok(ajv.validate(SCHEMA, server), ajv.errorsText());
    for (const bad of [
      { ...server, description: 'd'.repeat(101) },
      { ...server, name: 'local-events' },
      { ...server, url: '' },
    ])
      assert.ok(!ajv.validate(SCHEMA, bad));
  });

  it('has the version of the service', () => assert.equal(server.version, VERSION));

  it('has a name in the namespace of its host, and URLs that can be public', () => {
    const hosts = [server.websiteUrl, ...server.remotes.map(({ url }) => url)].map((url) => new URL(url));
    for (const { protocol, port, hostname } of hosts) {
      assert.deepEqual([protocol, port], ['https:', '']);
      assert.equal(server.name.split('/')[0], hostname.split('.').reverse().join('.'));
    }
  });

  it('names /mcp/connect without a header, and /mcp with the header of the key', async () => {
    const remotes = server.remotes.map(({ url, headers = [] }) => [
      new URL(url).pathname,
      headers.map(({ name }) => name),
    ]);
    assert.deepEqual(remotes, [
      ['/mcp/connect', []],
      ['/mcp', ['X-API-Key']],
    ]);
    assert.equal((await service.client.post('/mcp', {})).status, 401);
  });
});
