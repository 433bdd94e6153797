// Hand-written messages of the Model Context Protocol, for what the official client would not send.
import type { Answer, Client } from '../support/client.ts';

export const ACCEPT = { accept: 'application/json, text/event-stream' };

/** A request of an older revision; it needs no handshake, because the server keeps no state. */
export function call(name: string, args: object = {}, id: number | string = 1): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

interface CurrentRequest {
  readonly body: object;
  readonly headers: Record<string, string>;
}

/** A request of the current revision, with the headers that it must have. */
export function current(method: string, params: { name?: string; [more: string]: unknown }): CurrentRequest {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    headers: {
      ...ACCEPT,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(params.name !== undefined && { 'mcp-name': params.name }),
    },
  };
}

export function currentCall(name: string, args: object = {}): CurrentRequest {
  return current('tools/call', { name, arguments: args });
}

/** Sends any body to /mcp, as a client of an older revision does. */
export function post(client: Client, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return client.send('POST', '/mcp', { body, headers: { ...ACCEPT, ...headers } });
}

/** Messages in a response, sent as JSON or as an event stream. */
// biome-ignore lint/suspicious/noExplicitAny: tests read messages of every shape
export function messagesIn({ headers, text }: Answer): any[] {
  if (!headers.get('content-type')?.startsWith('text/event-stream')) return [JSON.parse(text)].flat();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
}
