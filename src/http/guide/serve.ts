// Serves the guide for agents at /llms.txt and /for-agents. Each is rendered once, on its first request.
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { StaticDocument } from '../response/static-document.ts';
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
}

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
/** Five minutes are safe: the guide changes only when the service restarts. */
const CACHING = 'public, max-age=300';

export function serveGuide(app: FastifyInstance, { describe, policy, tools, baseUrl }: GuideSources): void {
  const headers = { 'content-security-policy': POLICY, 'cache-control': CACHING };
  let guide: Guide | undefined;
  const serve = (path: string, type: string, render: (guide: Guide) => string) => {
    let document: StaticDocument | undefined;
    app.get(path, (_request, reply) => {
      guide ??= writeGuide(describe() as ApiDescription, policy(), tools, baseUrl());
      document ??= new StaticDocument(render(guide), `${type}; charset=utf-8`, headers);
      return document.send(reply);
    });
  };
  serve('/llms.txt', 'text/plain', toMarkdown);
  serve('/for-agents', 'text/html', toHtml);
}
