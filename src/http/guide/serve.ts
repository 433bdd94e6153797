// Serves the guide for agents at /llms.txt and /for-agents. Each is rendered on its first request of a day, because it names the date.
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../domain/clock-and-random.ts';
import { readPage } from '../browser/page-files.ts';
import { PAGE_HEADERS } from '../browser/page-headers.ts';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';
import type { Guide } from './blocks.ts';
import type { ApiDescription } from './facts.ts';
import { type GuidePolicy, writeGuide } from './guide.ts';
import { escapeHtml, toHtml } from './html.ts';
import { toMarkdown } from './markdown.ts';
import type { ToolName } from './mcp.ts';

export interface GuideSources {
  readonly describe: () => object;
  readonly policy: () => GuidePolicy;
  readonly tools: readonly ToolName[];
  readonly baseUrl: () => string;
  readonly clock: Clock;
  readonly documents: StaticDocuments;
}

/** The guide changes when the service restarts, and at midnight. */
const CACHING = 'public, max-age=300';

export function serveGuide(app: FastifyInstance, sources: GuideSources): void {
  const { describe, policy, tools, baseUrl, clock, documents } = sources;
  const today = () => new Date(clock()).toISOString().slice(0, 10);
  const serve = (path: string, type: string, render: (guide: Guide) => string, headers: object = {}) => {
    const document = documents.add(() => {
      const guide = writeGuide(describe() as ApiDescription, policy(), tools, baseUrl(), today());
      return new StaticDocument(render(guide), `${type}; charset=utf-8`, {
        ...headers,
        'cache-control': CACHING,
      });
    }, today);
    app.get(path, (_request, reply) => document().send(reply));
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
