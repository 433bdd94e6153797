// The API documentation at /docs: all operations by groups, their contents, and the meanings of errors. It is complete without scripts.
import type { FastifyInstance } from 'fastify';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import { INTRODUCTION } from '../guide/description.ts';
import { escapeHtml, inline } from '../guide/html.ts';
import { type Caller, codesOf, type Group, groupsOf, type Operation } from '../guide/operations.ts';
import type { StaticDocuments } from '../response/static-document.ts';
import { pageDocument } from './page-files.ts';
import { linkTo, type Shared, writeOperation, writeTable } from './reference-operation.ts';

/** The group that only administrators need; it is apart from the others. */
const APART = 'Administration';

interface DocsSources {
  readonly documents: StaticDocuments;
  readonly operations: readonly Operation[];
  readonly baseUrl: () => string;
}

export function serveDocs(app: FastifyInstance, { documents, operations, baseUrl }: DocsSources): void {
  documents.serve(app, '/docs', () => pageDocument('docs.html', writeReference(operations, baseUrl())));
}

/** The parts of the page, as HTML, by the words in docs.html that they replace. */
export function writeReference(operations: readonly Operation[], baseUrl: string): Record<string, string> {
  const groups = groupsOf(operations);
  const others = groups.filter(({ name }) => name !== APART);
  const apart = groups.filter(({ name }) => name === APART);
  const inGroups = groups.flatMap((group) => group.operations);
  const shared = { baseUrl, commonCodes: commonCodesOf(inGroups), examples: new Map() };
  const write = (some: readonly Group[]) => some.map((group) => writeGroup(group, shared));
  const paragraphs = INTRODUCTION.split('\n\n').map((text) => `<p>${inline(text)}</p>`);
  return {
    REFERENCE_ABOUT: paragraphs.join('\n'),
    REFERENCE_CONTENTS: [...others.map(writeContents), ERRORS_LINK, ...apart.map(writeContents)].join('\n'),
    REFERENCE_OPERATIONS: [...write(others), writeErrors(inGroups, shared.commonCodes), ...write(apart)].join(
      '\n',
    ),
  };
}

const ERRORS_LINK = '<h2>Errors</h2>\n<ul><li><a href="#errors"><span>All error codes</span></a></li></ul>';

/** A long name of a method would move the titles. */
const SHORT: Readonly<Record<string, string>> = { DELETE: 'DEL' };

function writeContents({ name, operations }: Group): string {
  const links = operations.map(
    ({ method, endpoint: { operationId, summary } }) =>
      `<li><a href="#${operationId}"><span class="method ${method.toLowerCase()}">${SHORT[method] ?? method}</span> <span>${inline(summary)}</span></a></li>`,
  );
  const list = `<ul>${links.join('\n')}</ul>`;
  if (name === APART)
    return `<details class="apart"><summary>For administrators</summary>\n${list}</details>`;
  return `<h2>${escapeHtml(name)}</h2>\n${list}`;
}

function writeGroup({ name, description, operations }: Group, shared: Shared): string {
  const items = operations.map((operation) => writeOperation(operation, shared));
  const id = `group.${name.toLowerCase()}`;
  return `<section class="group${name === APART ? ' apart' : ''}" aria-labelledby="${id}"><h2 id="${id}">${escapeHtml(name)}</h2>\n<p>${inline(description)}</p>\n${items.join('\n')}\n</section>`;
}

/** Codes of every operation that has a limit of requests, and of all with the same access; the others have fewer. */
function commonCodesOf(operations: readonly Operation[]): Shared['commonCodes'] {
  const limited = operations
    .map((operation) => ({ caller: operation.caller, codes: codesOf(operation) }))
    .filter(({ codes }) => codes.includes('RATE_LIMITED'));
  const inAll = (some: typeof limited) =>
    new Set(some[0]?.codes.filter((code) => some.every(({ codes }) => codes.includes(code))));
  const of = (wanted: Caller) => inAll(limited.filter(({ caller }) => caller === wanted));
  return { anyone: inAll(limited), key: of('key'), token: of('token') };
}

/** Every error code once; the operations link to them. */
function writeErrors(operations: readonly Operation[], common: Shared['commonCodes']): string {
  const list = (codes: Iterable<ErrorCode>) => [...codes].map(linkTo).join(', ');
  const rows = [...new Set(operations.flatMap(codesOf))]
    .map((code) => ({ code, ...ERRORS[code] }))
    .sort((a, b) => a.status - b.status)
    .map(
      ({ code, status, meaning }) =>
        `<tr id="${code}"><th scope="row">${code}</th><td><small>${status}</small> ${inline(meaning)}</td></tr>`,
    );
  return `<section class="group errors" id="errors" aria-labelledby="group.errors"><h2 id="group.errors">Errors</h2>
<p>Branch on the code: texts may change. After a 429 or 503, wait for the seconds in <code>Retry-After</code>.</p>
<p>Every request can get ${list(common.anyone)}; with a key also ${list(common.key.difference(common.anyone))}; those of administrators ${list(common.token.difference(common.anyone))}. Each operation lists its others.</p>
${writeTable(rows)}</section>`;
}
