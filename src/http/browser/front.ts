// The front page at /: what the service is, a key, and the first search. Clients that do not ask for HTML get the links as JSON.
import type { FastifyInstance } from 'fastify';
import { escapeHtml, inline } from '../guide/html.ts';
import { mcpClients } from '../guide/mcp.ts';
import { addVary } from '../response/headers.ts';
import { readQualities } from '../response/qualities.ts';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';
import { pageDocument } from './page-files.ts';

interface FrontSources {
  readonly documents: StaticDocuments;
  readonly baseUrl: () => string;
  /** A key that the page searches with until the visitor has one. It is for everybody to read: only for demos. */
  readonly visitorKey?: string | undefined;
}

export function serveFront(app: FastifyInstance, sources: FrontSources): void {
  const { documents, baseUrl, visitorKey = '' } = sources;
  const page = documents.add(() =>
    pageDocument('front.html', {
      MCP_CLIENTS: renderClients(baseUrl()),
      BASE_URL: escapeHtml(baseUrl()),
      VISITOR_KEY: escapeHtml(visitorKey),
    }),
  );
  const links = documents.add(() => {
    const json = JSON.stringify(describeLinks(baseUrl()));
    return new StaticDocument(json, 'application/json; charset=utf-8', { 'cache-control': 'no-cache' });
  });
  app.get('/', (request, reply) => {
    addVary(reply, 'Accept');
    return (asksForHtml(request.headers.accept) ? page : links)().send(reply);
  });
}

/** Settings for MCP clients: one after the other without scripts, and otherwise as tabs. */
function renderClients(base: string): string {
  const clients = mcpClients(base);
  const tabs = clients.map(
    ({ shortName }, number) =>
      `<button type="button" role="tab" id="mcp-tab-${number}" aria-controls="mcp-panel-${number}">${escapeHtml(shortName)}</button>`,
  );
  const panels = clients.map(({ name, shortName, how, settings }, number) => {
    const id = number === 0 ? 'mcp' : `mcp-${number}`;
    const label = number === 0 ? 'Copy the MCP command' : `Copy the settings for ${shortName}`;
    return `<div class="mcp-client" id="mcp-panel-${number}">
  <p class="hint"><strong>${escapeHtml(name)}</strong>${how && `, ${inline(how)}`}</p>
  <div class="command multi">
    <pre><code id="${id}">${escapeHtml(settings)}</code></pre>
    <button type="button" class="button small" data-copy="${id}" aria-label="${escapeHtml(label)}">Copy</button>
  </div>
</div>`;
  });
  return `<div class="tabs" role="tablist" aria-label="MCP clients" hidden>${tabs.join('')}</div>\n${panels.join('\n')}`;
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
