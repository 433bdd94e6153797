// The API documentation at /docs: the description as HTML, with every operation, by groups, contents and the meanings of errors. It is
// complete without scripts.
import type { FastifyInstance } from 'fastify';
import { escapeHtml, inline } from '../guide/html.ts';
import type { StaticDocuments } from '../response/static-document.ts';
import { pageDocument } from './page-files.ts';
import {
  type Caller,
  callerOf,
  linkTo,
  readCodes,
  type Shared,
  writeOperation,
  writeTable,
} from './reference-operation.ts';
import { type ApiDescription, type Operation, resolve } from './reference-schema.ts';

const METHODS = ['get', 'post', 'patch', 'delete'];

/** The group that only administrators need; it is apart from the others. */
const APART = 'Administration';

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Described[];
}

interface Reference {
  /** What the API is. */
  readonly about: string;
  readonly contents: string;
  readonly operations: string;
}

interface DocsSources {
  readonly documents: StaticDocuments;
  readonly describe: () => object;
}

export function serveDocs(app: FastifyInstance, { documents, describe }: DocsSources): void {
  documents.serve(app, '/docs', () => {
    const { about, contents, operations } = writeReference(describe() as ApiDescription);
    return pageDocument('docs.html', {
      REFERENCE_ABOUT: about,
      REFERENCE_CONTENTS: contents,
      REFERENCE_OPERATIONS: operations,
    });
  });
}

function writeReference(api: ApiDescription): Reference {
  const groups = groupsOf(api);
  const [others, apart] = [
    groups.filter(({ name }) => name !== APART),
    groups.filter(({ name }) => name === APART),
  ];
  const shared = { commonCodes: commonCodesOf(api, groups), examples: new Map() };
  const write = (some: readonly Group[]) => some.map((group) => writeGroup(api, group, shared)).join('\n');
  const { description } = api.info;
  return {
    about: description
      .split('\n\n')
      .map((text) => `<p>${inline(text)}</p>`)
      .join('\n'),
    contents: [...others.map(writeContents), ERRORS_LINK, ...apart.map(writeContents)].join('\n'),
    operations: [write(others), writeErrors(api, groups, shared.commonCodes), write(apart)].join('\n'),
  };
}

function groupsOf(api: ApiDescription): Group[] {
  return api.tags
    .map(({ name, description }) => ({
      name,
      description,
      operations: Object.entries(api.paths).flatMap(([path, item]) =>
        METHODS.filter((method) => item[method]?.tags.includes(name)).map((method) => ({
          method,
          path,
          operation: item[method]!,
        })),
      ),
    }))
    .filter(({ operations }) => operations.length > 0);
}

const ERRORS_LINK = '<h2>Errors</h2>\n<ul><li><a href="#errors"><span>All error codes</span></a></li></ul>';

/** A long name of a method would move the titles. */
const SHORT: Readonly<Record<string, string>> = { delete: 'DEL' };

function writeContents({ name, operations }: Group): string {
  const links = operations.map(
    ({ method, operation }) =>
      `<li><a href="#${operation.operationId}"><span class="method ${method}">${SHORT[method] ?? method.toUpperCase()}</span> <span>${inline(operation.summary)}</span></a></li>`,
  );
  const list = `<ul>${links.join('\n')}</ul>`;
  if (name === APART)
    return `<details class="apart"><summary>For administrators</summary>\n${list}</details>`;
  return `<h2>${escapeHtml(name)}</h2>\n${list}`;
}

function writeGroup(api: ApiDescription, { name, description, operations }: Group, shared: Shared): string {
  const items = operations.map(({ method, path, operation }) =>
    writeOperation(api, method, path, operation, api.paths[path]!.parameters ?? [], shared),
  );
  const id = `group.${name.toLowerCase()}`;
  return `<section class="group${name === APART ? ' apart' : ''}" aria-labelledby="${id}"><h2 id="${id}">${escapeHtml(name)}</h2>\n<p>${inline(description)}</p>\n${items.join('\n')}\n</section>`;
}

function codesOf(
  api: ApiDescription,
  { responses }: Operation,
): [code: string, status: string, meaning: string][] {
  return Object.entries(responses).flatMap(([status, response]) =>
    readCodes(resolve(api, response).description).map(([code, meaning]): [string, string, string] => [
      code,
      status,
      meaning,
    ]),
  );
}

/** Codes of every operation that has a limit of requests, and of all with the same access; the others have fewer. */
function commonCodesOf(api: ApiDescription, groups: readonly Group[]): Shared['commonCodes'] {
  const limited = groups
    .flatMap(({ operations }) => operations)
    .map(({ operation }) => ({
      caller: callerOf(operation),
      codes: codesOf(api, operation).map(([code]) => code),
    }))
    .filter(({ codes }) => codes.includes('RATE_LIMITED'));
  const inAll = (some: typeof limited) =>
    new Set(some[0]?.codes.filter((code) => some.every(({ codes }) => codes.includes(code))));
  const of = (wanted: Caller) => inAll(limited.filter(({ caller }) => caller === wanted));
  return { anyone: inAll(limited), key: of('key'), token: of('token') };
}

/** Every error code once; the operations link to them. */
function writeErrors(api: ApiDescription, groups: readonly Group[], common: Shared['commonCodes']): string {
  const list = (codes: Iterable<string>) => [...codes].map(linkTo).join(', ');
  const found = groups.flatMap(({ operations }) =>
    operations.flatMap(({ operation }) => codesOf(api, operation)),
  );
  const meanings = new Map(found.map(([code, status, meaning]) => [code, { status, meaning }]));
  const rows = [...meanings]
    .sort(([, a], [, b]) => Number(a.status) - Number(b.status))
    .map(
      ([code, { status, meaning }]) =>
        `<tr id="${code}"><th scope="row">${code}</th><td><small>${status}</small> ${inline(meaning)}</td></tr>`,
    );
  return `<section class="group errors" id="errors" aria-labelledby="group.errors"><h2 id="group.errors">Errors</h2>
<p>Branch on the code: texts may change. After a 429 or 503, wait for the seconds in <code>Retry-After</code>.</p>
<p>Every request can get ${list(common.anyone)}; with a key also ${list(common.key.difference(common.anyone))}; those of administrators ${list(common.token.difference(common.anyone))}. Each operation lists its others.</p>
${writeTable(rows)}</section>`;
}
