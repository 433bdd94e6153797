// Serves the guide for agents at /llms.txt and /for-agents. It is rendered once, on the first request.
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
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
  let rendered: { text: string; page: string } | undefined;
  const render = () => {
    const guide = writeGuide(describe() as ApiDescription, policy(), tools, baseUrl());
    return { text: toMarkdown(guide), page: toHtml(guide) };
  };
  const serve = (path: string, type: string, format: 'text' | 'page') => {
    app.get(path, (_request, reply) => {
      rendered ??= render();
      return reply
        .header('content-type', `${type}; charset=utf-8`)
        .header('content-security-policy', POLICY)
        .header('cache-control', CACHING)
        .send(rendered[format]);
    });
  };
  serve('/llms.txt', 'text/plain', 'text');
  serve('/for-agents', 'text/html', 'page');
}
