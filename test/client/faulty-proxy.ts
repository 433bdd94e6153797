// An HTTP proxy in front of a service that fails on demand: requests and responses get lost, or something else responds.
import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** What happens to a request instead of the service's response. */
export type Fault =
  /** Lost on the way: the service never sees it. */
  | 'lose the request'
  /** The service has done it, but its response is lost. */
  | 'lose the response'
  /** The connection breaks in the middle of the response. */
  | 'cut the response'
  /** Nothing ever comes. */
  | 'hang'
  | Reply;

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether the service has done the request nevertheless. */
  readonly isDone?: boolean;
}

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface FaultyProxy {
  readonly url: string;
  /** Of the next requests, in this order; without one, and later, requests pass. */
  readonly faults: (Fault | undefined)[];
  readonly requests: readonly Received[];
}

/** Runs until the end of the test. */
export async function startFaultyProxy(
  t: TestContext,
  target: string,
  faults: (Fault | undefined)[] = [],
): Promise<FaultyProxy> {
  const requests: Received[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    // Chromium asks first whether it may send the request.
    const fault = method === 'OPTIONS' ? undefined : faults.shift();
    if (method !== 'OPTIONS') requests.push({ method, path: url, headers });
    await respond(fault, () => forward(target, request, Buffer.concat(chunks)), response).catch(() =>
      response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, faults, requests };
}

interface Forwarded {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function respond(
  fault: Fault | undefined,
  ask: () => Promise<Forwarded>,
  response: ServerResponse,
): Promise<void> {
  if (fault === 'hang') return;
  if (fault === 'lose the request') {
    response.destroy();
  } else if (typeof fault === 'object') {
    if (fault.isDone) await ask();
    response.writeHead(fault.status, fault.headers).end(fault.body);
  } else {
    const { status, headers, body } = await ask();
    if (fault === 'lose the response') {
      response.destroy();
      return;
    }
    response.writeHead(status, headers);
    if (fault === undefined) response.end(body);
    else response.write(body.subarray(0, body.length / 2), () => response.destroy());
  }
}

async function forward(
  target: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
): Promise<Forwarded> {
  const request = http.request(`${target}${url}`, { method, headers, agent: false }).end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const received = { ...response.headers };
  for (const name of ['connection', 'keep-alive', 'transfer-encoding']) delete received[name];
  return { status: response.statusCode!, headers: received, body: Buffer.concat(chunks) };
}
