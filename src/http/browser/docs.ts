// The API documentation at /docs: the description as HTML, with code for every operation and forms that send it.
import type { FastifyInstance } from 'fastify';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';
import { readPage } from './page-files.ts';
import { PAGE_HEADERS } from './page-headers.ts';
import { writeReference } from './reference.ts';
import type { ApiDescription } from './reference-schema.ts';

interface DocsSources {
  readonly documents: StaticDocuments;
  readonly describe: () => object;
}

export function serveDocs(app: FastifyInstance, { documents, describe }: DocsSources): void {
  const page = documents.add(() => {
    const { about, contents, operations } = writeReference(describe() as ApiDescription);
    const html = readPage('docs.html', {
      REFERENCE_ABOUT: about,
      REFERENCE_CONTENTS: contents,
      REFERENCE_OPERATIONS: operations,
    });
    return new StaticDocument(html, 'text/html; charset=utf-8', {
      ...PAGE_HEADERS,
      'cache-control': 'no-cache',
    });
  });
  app.get('/docs', (_request, reply) => page().send(reply));
}
