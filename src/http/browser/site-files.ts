// The files that browsers and crawlers ask every site for: /favicon.ico and /robots.txt.
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';

const CACHING = { 'cache-control': 'public, max-age=86400' };

/** The API is not disallowed: some clients of agents ask before they call it. */
const ROBOTS = `# Agents are welcome: /llms.txt says how to use this service. The console is for administrators.
User-agent: *
Disallow: /admin
`;

export function serveSiteFiles(app: FastifyInstance, served: StaticDocuments): void {
  const icon = served.add(
    () =>
      new StaticDocument(
        readFileSync(new URL('./pages/favicon.ico', import.meta.url)),
        'image/x-icon',
        CACHING,
      ),
  );
  const robots = served.add(() => new StaticDocument(ROBOTS, 'text/plain; charset=utf-8', CACHING));
  app.get('/favicon.ico', (_request, reply) => icon().send(reply));
  app.get('/robots.txt', (_request, reply) => robots().send(reply));
}
