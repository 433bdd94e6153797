// Serves the guide for agents at /llms.txt and /for-agents. Each is rendered on its first request of a day, because it names the date.
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../usecases/context.ts';
import type { Guide } from '../guide/blocks.ts';
import { writeGuide } from '../guide/guide.ts';
import { escapeHtml, toHtml } from '../guide/html.ts';
import { toMarkdown } from '../guide/markdown.ts';
import type { ToolName } from '../guide/mcp.ts';
import type { Operation } from '../guide/operations.ts';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';
import { PAGE_HEADERS, readPage } from './page-files.ts';

interface GuideSources {
  readonly operations: readonly Operation[];
  readonly context: () => Context;
  readonly tools?: readonly ToolName[];
  readonly baseUrl: () => string;
  readonly documents: StaticDocuments;
}

/** The guide changes when the service restarts, and at midnight. */
const CACHING = { 'cache-control': 'public, max-age=300' };

export function serveGuide(app: FastifyInstance, sources: GuideSources): void {
  const { operations, context, tools = [], baseUrl, documents } = sources;
  const today = () => new Date(context().clock()).toISOString().slice(0, 10);
  const serve = (path: string, type: string, render: (guide: Guide) => string, headers: object = {}) => {
    const make = () => {
      const guide = writeGuide(operations, context().policy, tools, baseUrl(), today());
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
