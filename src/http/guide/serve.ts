// Serves the guide for agents at /llms.txt and /for-agents. Each is rendered once, on its first request.
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { fileUrl } from '../browser/page-files.ts';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';
import type { Guide } from './blocks.ts';
import type { ApiDescription } from './facts.ts';
import { type GuidePolicy, writeGuide } from './guide.ts';
import { STYLE, toHtml } from './html.ts';
import { toMarkdown } from './markdown.ts';
import type { ToolName } from './mcp.ts';

export interface GuideSources {
  readonly describe: () => object;
  readonly policy: () => GuidePolicy;
  readonly tools: readonly ToolName[];
  readonly baseUrl: () => string;
  readonly documents: StaticDocuments;
}

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
/** Five minutes are safe: the guide changes only when the service restarts. */
const CACHING = 'public, max-age=300';

export function serveGuide(app: FastifyInstance, sources: GuideSources): void {
  const { describe, policy, tools, baseUrl, documents } = sources;
  const headers = { 'content-security-policy': POLICY, 'cache-control': CACHING };
  let guide: Guide | undefined;
  const serve = (path: string, type: string, render: (guide: Guide) => string) => {
    const document = documents.add(() => {
      guide ??= writeGuide(describe() as ApiDescription, policy(), tools, baseUrl());
      return new StaticDocument(render(guide), `${type}; charset=utf-8`, headers);
    });
    app.get(path, (_request, reply) => document().send(reply));
  };
  serve('/llms.txt', 'text/plain', toMarkdown);
  serve('/for-agents', 'text/html', (all) => toHtml(all, fileUrl('icon.svg')));
}
