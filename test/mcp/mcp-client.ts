// The official client of the Model Context Protocol, over HTTP or as a started process, in any revision.
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { BIN, cleanEnv } from '../support/process.ts';

export const CURRENT = '2026-07-28';
/** Older revisions that clients still use over this transport, the newest first. */
export const OLDER = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read results of every shape
  readonly structured: any;
}

export class McpClient {
  readonly client: Client;

  private constructor(client: Client) {
    this.client = client;
  }

  /** Wraps a client that is already connected. */
  static of(client: Client): McpClient {
    return new McpClient(client);
  }

  /** Connects with exactly this revision, or fails. */
  static async #connect(revision: string, transport: Parameters<Client['connect']>[0]): Promise<McpClient> {
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      revision === CURRENT
        ? { versionNegotiation: { mode: { pin: CURRENT } } }
        : { supportedProtocolVersions: [revision] },
    );
    await client.connect(transport);
    assert.equal(client.getNegotiatedProtocolVersion(), revision);
    return new McpClient(client);
  }

  static overHttp(
    url: string,
    headers: Record<string, string>,
    revision = CURRENT,
    path = '/mcp',
  ): Promise<McpClient> {
    const transport = new StreamableHTTPClientTransport(new URL(path, url), { requestInit: { headers } });
    return McpClient.#connect(revision, transport);
  }

  static overStdio(url: string, key: string, revision = CURRENT): Promise<McpClient> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BIN, 'mcp', '--url', url],
      env: cleanEnv({ LOCAL_EVENTS_API_KEY: key }),
      stderr: 'ignore',
    });
    return McpClient.#connect(revision, transport);
  }

  /** Result of the tool. Throws if it is a protocol error. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const {
      isError = false,
      content,
      structuredContent,
    } = await this.client.callTool({ name, arguments: args });
    const [block, ...others] = content as { type: string; text: string }[];
    assert.deepEqual([block?.type, others.length], ['text', 0]);
    assert.equal(structuredContent === undefined, isError);
    return { isError, text: block!.text, structured: structuredContent };
  }

  /** Structured result of a call that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read results of every shape
  async get(name: string, args: Record<string, unknown> = {}): Promise<any> {
    const { isError, text, structured } = await this.call(name, args);
    assert.equal(isError, false, text);
    return structured;
  }

  /** Text of a call that must fail. */
  async refusal(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { isError, text } = await this.call(name, args);
    assert.equal(isError, true, text);
    return text;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
