// Sends requests as bytes on a connection. client.ts, the only module that uses this one, checks the responses.
import { once } from 'node:events';
import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import type { Exchange } from './description.ts';
import { BASE_URL } from './settings.ts';

const base = new URL(BASE_URL);
const secure = base.protocol === 'https:';
const prefix = base.pathname.replace(/\/$/, '');
const agent = new (secure ? https : http).Agent({ keepAlive: true });

/** A list is sent as several headers of one name; undefined is not sent. */
export type RequestHeaders = Record<string, string | string[] | undefined>;

/** Sends the path exactly as given: nothing is normalised or escaped. A list of chunks is sent without a length. */
export async function exchange(
  method: string,
  path: string,
  headers: RequestHeaders,
  body: string | Uint8Array | readonly Uint8Array[] | undefined,
): Promise<Exchange> {
  const { hostname, port } = base;
  const sent = Object.fromEntries(
    Object.entries({ ...framing(body), ...headers }).filter(([, value]) => value !== undefined),
  );
  const options = { agent, method, hostname, port, path: prefix + path, headers: sent };
  const request = (secure ? https : http).request(options);
  const responded = once(request, 'response') as Promise<[http.IncomingMessage]>;
  // A server may respond, and close, before it has read everything: only the response matters.
  request.on('error', () => {});
  if (Array.isArray(body)) for (const chunk of body as readonly Uint8Array[]) request.write(chunk);
  request.end(Array.isArray(body) ? undefined : body);
  const [response] = await responded;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    method,
    path,
    status: response.statusCode!,
    headers: flatten(response.headers),
    text: Buffer.concat(chunks).toString('utf8'),
  };
}

/** Explicit, because for some methods node:http would send a body without a length. */
function framing(body: Parameters<typeof exchange>[3]): Record<string, string> {
  if (body === undefined) return {};
  if (Array.isArray(body)) return { 'transfer-encoding': 'chunked' };
  return { 'content-length': String(Buffer.byteLength(body as string | Uint8Array)) };
}

/** Sends these bytes on a new connection and reads one response. */
export async function exchangeRaw(bytes: string | Uint8Array): Promise<Exchange> {
  const port = Number(base.port || (secure ? 443 : 80));
  const host = base.hostname.replace(/^\[|\]$/g, '');
  const socket = secure ? tls.connect({ host, port, servername: host }) : net.connect({ host, port });
  await once(socket, secure ? 'secureConnect' : 'connect');
  socket.on('error', () => {});
  socket.write(bytes);
  let received = '';
  for await (const chunk of socket.setEncoding('utf8')) {
    received += chunk;
    if (isComplete(received)) break;
  }
  socket.destroy();
  const [, method = '', path = ''] = /^([A-Z]+) (\S+) HTTP\/1\.[01]\r\n/.exec(String(bytes)) ?? [];
  return { method, path: path.slice(prefix.length), ...parseAnswer(received) };
}

function flatten(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

function isComplete(received: string): boolean {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, end))?.[1];
  return length !== undefined && Buffer.byteLength(received.slice(end + 4)) >= Number(length);
}

function parseAnswer(received: string): Pick<Exchange, 'status' | 'headers' | 'text'> {
  const end = received.indexOf('\r\n\r\n');
  const [start = '', ...lines] = received.slice(0, Math.max(end, 0)).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(start)?.[1] ?? 0);
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { status, headers, text: received.slice(end + 4) };
}
