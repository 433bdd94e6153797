// The front page at /: what the service is, a key, and the first search. Clients that do not ask for HTML get the links as JSON.
import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../guide/html.ts';
import { readQualities } from '../request/qualities.ts';
import { addVary } from '../response/headers.ts';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';
import { readPage } from './page-files.ts';
import { PAGE_HEADERS } from './page-headers.ts';

const CACHING = { 'cache-control': 'no-cache' };

export function serveFront(app: FastifyInstance, served: StaticDocuments, baseUrl: () => string): void {
  const page = served.add(
    () =>
      new StaticDocument(
        readPage('front.html', { BASE_URL: escapeHtml(baseUrl()) }),
        'text/html; charset=utf-8',
        {
          ...PAGE_HEADERS,
          ...CACHING,
        },
      ),
  );
  const links = served.add(
    () =>
      new StaticDocument(
        JSON.stringify(describeLinks(baseUrl())),
        'application/json; charset=utf-8',
        CACHING,
      ),
  );
  app.get('/', (request, reply) => {
    addVary(reply, 'Accept');
    return (asksForHtml(request.headers.accept) ? page : links)().send(reply);
  });
}

function describeLinks(base: string): object {
  return {
    name: 'local-events',
    description: 'In-person events for software agents. Register, then send the key as X-API-Key.',
    links: {
      register: `${base}/v1/auth/register`,
      search: `${base}/v1/events/nearby`,
      docs: `${base}/docs`,
      openapi: `${base}/openapi.json`,
      guide: `${base}/llms.txt`,
      guide_html: `${base}/for-agents`,
      mcp: `${base}/mcp`,
      mcp_setup: `${base}/for-agents#mcp`,
      console: `${base}/admin`,
      health: `${base}/health`,
    },
  };
}

/** Whether Accept names HTML, at least as much as JSON. A wildcard names nothing: it is what programs send by default. */
export function asksForHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const qualities = readQualities(accept);
  const html = qualities.get('text/html') ?? qualities.get('application/xhtml+xml') ?? 0;
  return html > 0 && html >= (qualities.get('application/json') ?? 0);
}
