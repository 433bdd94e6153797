// The API documentation at /docs: the description as plain HTML, which Swagger UI replaces to try operations. Swagger UI comes from
// its npm package, so that pages load nothing from other hosts.
import type { FastifyInstance } from 'fastify';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';
import { readPage } from './page-files.ts';
import { PAGE_HEADERS } from './page-headers.ts';
import { type ApiDescription, writeReference } from './reference.ts';

// Swagger UI uses inline styles and icons from data: URLs; scripts come only from this service.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function serveDocs(app: FastifyInstance, served: StaticDocuments, describe: () => object): void {
  const headers = { ...PAGE_HEADERS, 'content-security-policy': POLICY, 'cache-control': 'no-cache' };
  const page = served.add(() => {
    const html = readPage('docs.html', { REFERENCE: writeReference(describe() as ApiDescription) });
    return new StaticDocument(html, 'text/html; charset=utf-8', headers);
  });
  app.get('/docs', (_request, reply) => page().send(reply));
}
