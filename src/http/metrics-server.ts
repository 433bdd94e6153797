// Serves the metrics on a port of their own, so that clients of the API cannot read them. Prometheus needs few requests: more
// are refused, so that whoever reaches this port cannot take time from those clients.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '../metrics/metrics.ts';

const PATH = '/metrics';
const MAX_CONNECTIONS = 16;
const MAX_REQUESTS_PER_SECOND = 50;

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Throws the system's error if the port cannot be used. */
export async function serveMetrics(metrics: Metrics, host: string, port: number): Promise<MetricsServer> {
  const { createServer } = await import('node:http'); // slow: it loads fetch, too
  const timeouts = { headersTimeout: 3_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 };
  let second = 0;
  let requests = 0;
  const server = createServer({ ...timeouts, keepAliveTimeout: 60_000 }, (request, response) => {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== second) requests = 0;
    second = now;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    response.setHeader('x-content-type-options', 'nosniff');
    if (++requests > MAX_REQUESTS_PER_SECOND)
      response.writeHead(429, { 'retry-after': '1' }).end('Too many requests\n');
    else if (!isRead || request.url!.replace(/\?.*$/, '') !== PATH)
      response.writeHead(404).end(`See ${PATH}\n`);
    else response.end(metrics.render());
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(60_000);
  server.listen(port, host);
  await once(server, 'listening');
  const { address, port: actual, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}${PATH}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
