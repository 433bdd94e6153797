// The administrators' console at /admin: serves the files built from web/, read once at start. The files are public; the
// API endpoints that they call check who may see data.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { unescape as decode } from 'node:querystring';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import { addHeader } from '../response/headers.ts';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';
import { PAGE_HEADERS } from './page-files.ts';
import { SIGN_IN_METHODS } from './sign-in.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>The console is not built</title>
</head>
<body>
<h1>The console is not built</h1>
<p>Run <code>npm run build:web</code>, then restart the service. The API works without it: see <a href="/docs">/docs</a>.</p>
</body>
</html>
`;

const PAGES = '/admin/*';

interface ConsoleSources {
  readonly documents: StaticDocuments;
  readonly consoleFolder?: string;
}

/** Serves the files that are in the folder now. If there is no build, serves a page that says how to make one. */
export function serveConsole(app: FastifyInstance, { documents, consoleFolder }: ConsoleSources): void {
  const built = consoleFolder === undefined ? undefined : findBuild(consoleFolder);

  for (const document of built ? [built.page, ...built.assets.values()] : []) documents.add(() => document);

  const sendPage = (_request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> =>
    built
      ? built.page.send(reply)
      : reply.headers(PAGE_HEADERS).type(TYPES['.html']!).code(503).send(NOT_BUILT);

  app.get('/admin/assets/*', (request, reply) => {
    const file = built?.assets.get((request.params as { '*': string })['*']);
    if (!file) throw new AppError('NOT_FOUND', 'This file does not exist. Reload the page.');
    return file.send(reply);
  });
  // One page for all URLs: its script picks the view.
  app.get('/admin', sendPage);
  app.get(PAGES, (request, reply) => {
    const method = SIGN_IN_METHODS.get(`/admin/${(request.params as { '*': string })['*']}`);
    if (method === undefined) return sendPage(request, reply);
    reply.header('allow', method);
    throw new AppError('METHOD_NOT_ALLOWED', `This URL supports ${method}, not ${request.method}.`);
  });
}

/**
 * Security headers of everything under /admin, including errors. They forbid loading other content, framing, reading by other
 * origins, and sending the URL to other sites as Referer. Pages that need more set their own headers.
 */
export function addConsoleHeaders(path: string, reply: FastifyReply): void {
  if (!path.startsWith('/admin') && !path.includes('%')) return;
  if (!/^\/admin(?:\/|$)/.test(decode(path))) return;
  addHeader(reply, 'content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  addHeader(reply, 'referrer-policy', 'same-origin');
  addHeader(reply, 'cross-origin-resource-policy', 'same-origin');
  addHeader(reply, 'x-frame-options', 'DENY');
}

interface Build {
  readonly page: StaticDocument;
  /** Files by name. Only these files are ever served. */
  readonly assets: ReadonlyMap<string, StaticDocument>;
}

function findBuild(folder: string): Build | undefined {
  const read = (path: string, caching: string) =>
    new StaticDocument(readFileSync(path), TYPES[extname(path)] ?? 'application/octet-stream', {
      ...PAGE_HEADERS,
      'cache-control': caching,
    });
  try {
    const assets = join(folder, 'assets');
    return {
      page: read(join(folder, 'index.html'), 'no-cache'),
      assets: new Map(
        readdirSync(assets).map((name) => [
          name,
          read(join(assets, name), 'public, max-age=31536000, immutable'),
        ]),
      ),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
