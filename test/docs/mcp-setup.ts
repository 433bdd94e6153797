// Settings of MCP clients, used as those clients would use them: the official client connects with what the settings say.
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { McpClient } from '../mcp/mcp-client.ts';
import { cleanEnv } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

/** One server in the settings of a client. */
export interface Setting {
  readonly type?: string;
  readonly url?: string;
  /** As Gemini CLI calls it. */
  readonly httpUrl?: string;
  readonly headers?: Record<string, string>;
  readonly command?: string;
  readonly args?: string[];
  readonly env?: Record<string, string>;
}

/** Connects with the client's default revision. */
export async function connectBy({
  httpUrl,
  url = httpUrl,
  headers,
  command,
  args,
  env,
}: Setting): Promise<McpClient> {
  const client = new Client({ name: 'settings', version: '1.0.0' });
  const transport =
    url === undefined
      ? new StdioClientTransport({ command: command!, args: args!, env: cleanEnv(env!), stderr: 'ignore' })
      : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: headers! } });
  await client.connect(transport);
  return McpClient.of(client);
}

/**
 * A program named `claude` in a new folder, which records its arguments. The official client then does what the real one
 * would do after `mcp add --transport http NAME URL --header "NAME: VALUE"`.
 */
export function standInForClaude(): { folder: string; connect: () => Promise<McpClient> } {
  const folder = temporaryFolder();
  const program = join(folder, 'claude');
  const note = join(folder, 'called');
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${note}'\n`);
  chmodSync(program, 0o755);
  return {
    folder,
    connect: () => {
      const [mcp, add, option, transport, name, url, headerOption, header = '', ...rest] = readFileSync(
        note,
        'utf8',
      )
        .trimEnd()
        .split('\n');
      assert.deepEqual(
        [mcp, add, option, transport, name, headerOption, rest],
        ['mcp', 'add', '--transport', 'http', 'local-events', '--header', []],
      );
      const [, field = '', value = ''] = /^([\w-]+): (.+)$/.exec(header) ?? [];
      return connectBy({ url: url!, headers: { [field]: value } });
    },
  };
}
