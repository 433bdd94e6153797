// The pages / and /for-agents, each also for programs: whoever does not ask for HTML gets the links of / as JSON, and /llms.txt is the guide
// as text.
import type { FastifyInstance } from 'fastify';
import type { PublicReading } from '../../domain/policy.ts';
import type { Context } from '../../usecases/context.ts';
import { type Guide, toMarkdown } from '../guide/blocks.ts';
import { writeGuide } from '../guide/guide.ts';
import { escapeHtml, inline, toHtml } from '../guide/html.ts';
import { type McpWays, mcpClients, otherUrls, type ToolName } from '../guide/mcp.ts';
import type { Operation } from '../guide/operations.ts';
import { readQualities } from '../response/formats.ts';
import { addVary } from '../response/headers.ts';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';
import { PAGE_HEADERS, pageDocument, readPage } from './page-files.ts';

interface PageSources {
  readonly documents: StaticDocuments;
  readonly baseUrl: () => string;
  readonly operations: readonly Operation[];
  readonly context: () => Context;
  readonly tools?: readonly ToolName[];
  /** Reading without a key, if it is possible. */
  readonly publicReading?: PublicReading | undefined;
  /** Whether MCP clients can sign in. */
  readonly hasOAuth?: boolean;
}

export function serveFront(app: FastifyInstance, sources: PageSources): void {
  const { documents, baseUrl, publicReading } = sources;
  const page = documents.add(() =>
    pageDocument('front.html', {
      MCP_CLIENTS: renderClients(baseUrl(), sources),
      BASE_URL: escapeHtml(baseUrl()),
      ...wordsOf(publicReading, baseUrl()),
    }),
  );
  const links = documents.add(() => {
    const json = JSON.stringify(describeLinks(baseUrl(), sources));
    return new StaticDocument(json, 'application/json; charset=utf-8', { 'cache-control': 'no-cache' });
  });
  app.get('/', (request, reply) => {
    addVary(reply, 'Accept');
    return (asksForHtml(request.headers.accept) ? page : links)().send(reply);
  });
}

/** What the page says about searching with or without a key. */
function wordsOf(publicReading: PublicReading | undefined, base: string): Record<string, string> {
  if (!publicReading) {
    return {
      SEARCHES_WITHOUT_KEY: '',
      KEY_PLACEHOLDER: 'lev_…',
      ABOUT_KEYS: '',
      ABOUT_PUBLIC_TOOLS: '',
      NO_RESULTS:
        'Events appear here as soon as there is a key: <a href="#key">get one</a>, it takes a few seconds.',
      EXAMPLE_KEY: ' -H "X-API-Key: $KEY"',
    };
  }
  const { readsPerHour } = publicReading;
  const limit =
    readsPerHour === 0 ? '' : `, ${readsPerHour.toLocaleString('en')} times an hour from your network`;
  return {
    SEARCHES_WITHOUT_KEY: 'on',
    KEY_PLACEHOLDER: 'not needed',
    ABOUT_KEYS: `<p>Searching needs no key here${limit}. A key has a quota of its own, and can publish.</p>`,
    ABOUT_PUBLIC_TOOLS: `<p>Without a key, <code>${escapeHtml(base)}/mcp/public</code> has the tools that search and read.</p>`,
    NO_RESULTS: 'With JavaScript, events appear here.',
    EXAMPLE_KEY: '',
  };
}

/** Settings for MCP clients: one after the other without scripts, and otherwise as tabs. */
function renderClients(base: string, ways: McpWays): string {
  const clients = mcpClients(base, ways);
  const tabs = clients.map(
    ({ shortName }, number) =>
      `<button type="button" role="tab" id="mcp-tab-${number}" aria-controls="mcp-panel-${number}">${escapeHtml(shortName)}</button>`,
  );
  const panels = clients.map(({ name, shortName, how, language, settings }, number) => {
    const id = number === 0 ? 'mcp' : `mcp-${number}`;
    const label = language === 'text' ? 'Copy the URL' : `Copy the settings for ${shortName}`;
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

function describeLinks(base: string, ways: McpWays): object {
  const withoutKey = ways.publicReading ? ' Searching and reading need no key.' : '';
  const others = otherUrls(base, ways);
  return {
    name: 'local-events',
    description: `In-person events for software agents. Register, then send the key as X-API-Key.${withoutKey}`,
    links: {
      register: `${base}/v1/auth/register`,
      search: `${base}/v1/events/nearby`,
      docs: `${base}/docs`,
      openapi: `${base}/openapi.json`,
      guide: `${base}/llms.txt`,
      skill: `${base}/SKILL.md`,
      guide_html: `${base}/for-agents`,
      mcp: `${base}/mcp`,
      ...(others.signIn && { mcp_connect: others.signIn }),
      ...(others.withoutKey && { mcp_public: others.withoutKey }),
      mcp_setup: `${base}/for-agents#mcp`,
      console: `${base}/admin`,
      health: `${base}/health`,
    },
  };
}

/** The guide changes when the service restarts, and at midnight. */
const CACHING = { 'cache-control': 'public, max-age=300' };

/** The guide for agents. Each format is rendered on its first request of a day, because it names the date. */
export function serveGuide(app: FastifyInstance, sources: PageSources): void {
  const { operations, context, tools = [], baseUrl, documents } = sources;
  const today = () => new Date(context().clock()).toISOString().slice(0, 10);
  const serve = (path: string, type: string, render: (guide: Guide) => string, headers: object = {}) => {
    const make = () => {
      const guide = writeGuide(operations, context().policy, tools, baseUrl(), today(), sources);
      return new StaticDocument(render(guide), `${type}; charset=utf-8`, { ...headers, ...CACHING });
    };
    documents.serve(app, path, make, today);
  };
  serve('/llms.txt', 'text/plain', toMarkdown);
  serve('/for-agents', 'text/html', writePage, PAGE_HEADERS);
}

function writePage(guide: Guide): string {
  const { contents, sections } = toHtml(guide);
  return readPage('guide.html', {
    GUIDE_SUMMARY: escapeHtml(guide.summary),
    GUIDE_CONTENTS: contents,
    GUIDE_SECTIONS: sections,
    '<a href="/for-agents">Guide': '<a href="/for-agents" aria-current="page">Guide',
  });
}

/** Whether Accept names HTML, at least as much as JSON. A wildcard names nothing: it is what programs send by default. */
export function asksForHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const qualities = readQualities(accept);
  const html = qualities.get('text/html') ?? qualities.get('application/xhtml+xml') ?? 0;
  return html > 0 && html >= (qualities.get('application/json') ?? 0);
}
