// One operation of /docs as HTML: what it does, the request as code, a form that sends it, its parameters, body and responses.
import { escapeHtml, inline } from '../guide/html.ts';
import { credential, LANGUAGES, toRequest } from './pages/samples.js';
import {
  type ApiDescription,
  type Content,
  type Operation,
  type Parameter,
  resolve,
  type Schema,
  writeLimits,
  writeType,
} from './reference-schema.ts';

/** Operations that end a key, or delete; their button asks once more. */
const CAREFUL = /^(?:delete|revoke)/;

/** Whose credential an operation needs. */
export type Caller = 'anyone' | 'key' | 'token';

/** A parameter as it is shown: an example fills its field, a hint does not. */
type Field = Parameter & { readonly hint?: unknown };

/** What all operations share. */
export interface Shared {
  /** Error codes that every operation with this access can get; the section of errors lists them. */
  readonly commonCodes: Readonly<Record<Caller, ReadonlySet<string>>>;
  /** The examples so far, and the operation that shows each. */
  readonly examples: Map<string, string>;
}

export function writeOperation(
  api: ApiDescription,
  method: string,
  path: string,
  operation: Operation,
  pathParameters: readonly Parameter[],
  shared: Shared,
): string {
  const { operationId: id, summary, description, requestBody, responses } = operation;
  const parameters = [...(operation.parameters ?? []), ...pathParameters].map(withoutVersion);
  const caller = callerOf(operation);
  const body = exampleBody(method, requestBody);
  const hasContent = responses['200'] !== undefined;
  const data = [
    caller !== 'anyone' && `data-access="${caller}"`,
    hasContent && 'data-content',
    CAREFUL.test(id) && 'data-careful',
  ];
  const filled = parameters.map(({ name, in: place, example }) => ({
    name,
    place,
    value: example === undefined ? '' : String(example),
  }));
  const sent = toRequest(
    { method: method.toUpperCase(), path, filled, body, hasContent },
    api.servers[0]!.url,
    credential(caller, ''),
  );
  return `<form class="operation ${method}" id="${id}" autocomplete="off" ${data.filter((part) => part).join(' ')}>
<div class="about">
<h3><a href="#${id}">${inline(summary)}</a></h3>
<p class="route"><span class="method">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></p>
<p>${inline(description)}</p>
</div>
<div class="request">
<div class="code">
<div class="code-head"></div>
<pre class="sample" tabindex="0"><code>${escapeText(LANGUAGES.curl.write(sent))}</code></pre>
</div>
<p class="send"><button class="button primary" type="submit">Send</button> <span class="caller"></span></p>
<div class="response" hidden></div>
</div>
<div class="details">
${parameters.length > 0 ? writeParameters(parameters) : ''}${requestBody ? writeBody(api, requestBody, body!) : ''}${writeResponses(api, operation, shared)}
</div>
</form>`;
}

export function callerOf({ security }: Operation): Caller {
  if (security.length === 0) return 'anyone';
  return 'ApiKey' in security[0]! ? 'key' : 'token';
}

/** The version in an example is not that of a real event: it is only a hint in the field, and not sent. */
function withoutVersion({ example, ...parameter }: Parameter): Field {
  return parameter.name.startsWith('If-') ? { ...parameter, hint: example } : { ...parameter, example };
}

/** An example of a change has one field. */
function exampleBody(method: string, body: Content | undefined): string | undefined {
  if (!body) return undefined;
  const { example = {} } = body.content!['application/json']!;
  const shown =
    method === 'patch' ? Object.fromEntries(Object.entries(example as object).slice(0, 1)) : example;
  return JSON.stringify(shown, null, 2);
}

function writeParameters(parameters: readonly Field[]): string {
  const rows = parameters.map((parameter) => {
    const { name, in: place, required, description = '', schema } = parameter;
    const facts = `${writeType(schema)}${writeLimits(schema)}${place === 'query' ? '' : `, in the ${place}`}${required ? ', <strong>required</strong>' : ''}`;
    return `<tr><th scope="row"><label>${escapeHtml(name)}</label></th><td>${writeField(parameter)}<small>${facts}</small><p>${inline(description)}</p></td></tr>`;
  });
  return `<h4>Parameters</h4>\n${writeTable(rows)}`;
}

/** The field for a parameter, filled with its example. */
function writeField({ name, in: place, schema, example, hint }: Field): string {
  const isList = schema.type === 'array';
  const attributes = `name="${escapeHtml(name)}"${place === 'query' ? '' : ` data-place="${place}"`}${isList ? ' data-list' : ''}${place === 'path' ? ' required' : ''}`;
  const choices = schema.type === 'boolean' ? [true, false] : schema.enum;
  if (choices) {
    const preset = schema.default === undefined ? '–' : `${schema.default} (default)`;
    const options = choices.map((value) => `<option>${escapeHtml(String(value))}</option>`);
    return `<select ${attributes}><option value="">${preset}</option>${options.join('')}</select>`;
  }
  const shown = escapeHtml(isList ? 'several: separated by commas' : String(hint ?? schema.default ?? ''));
  const value = example === undefined ? '' : ` value="${escapeHtml(String(example))}"`;
  return `<input ${attributes}${value}${shown ? ` placeholder="${shown}"` : ''}>`;
}

function writeBody(api: ApiDescription, { description, content }: Content, body: string): string {
  const { properties = {}, required = [] } = resolve(api, content!['application/json']!.schema);
  const rows = Object.entries(properties).map(([name, reference]) => {
    const field: Schema = { ...resolve(api, reference), ...reference };
    const about = field.description ? `<p>${inline(field.description)}</p>` : '';
    return `<tr><th scope="row">${escapeHtml(name)}</th><td><small>${writeType(field)}${writeLimits(field)}${required.includes(name) ? ', <strong>required</strong>' : ''}</small>${about}</td></tr>`;
  });
  const lines = Math.min(16, body.split('\n').length);
  const field = `<textarea rows="${lines}">${escapeText(body)}</textarea>`;
  return `<h4><label>Body</label></h4>\n<p>${inline(description)}</p>\n${field}\n${rows.length > 0 ? writeTable(rows) : ''}`;
}

function writeResponses(
  api: ApiDescription,
  operation: Operation,
  { commonCodes, examples }: Shared,
): string {
  const { operationId, responses } = operation;
  const common = commonCodes[callerOf(operation)];
  const rows = Object.entries(responses).flatMap(([status, response]) => {
    const { description } = resolve(api, response);
    const codes = readCodes(description).map(([code]) => code);
    const own = codes.filter((code) => !common.has(code));
    if (codes.length > 0 && own.length === 0) return [];
    const about =
      codes.length > 0 ? own.map(linkTo).join(' ') : description.split('\n\n').map(inline).join('<br>');
    return [`<tr><th scope="row">${status}</th><td>${about}</td></tr>`];
  });
  const hasCommon = Object.values(responses).some(({ $ref }) => $ref !== undefined);
  const others = hasCommon ? '<p><a href="#errors">Errors of every request</a></p>' : '';
  const example = responses['200']?.content?.['application/json']?.example;
  return `<h4>Responses</h4>\n${writeTable(rows)}${others}${example === undefined ? '' : writeExample(operationId, example, examples)}`;
}

/** An example that another operation already has is a link to that. */
function writeExample(id: string, example: unknown, examples: Map<string, string>): string {
  const text = JSON.stringify(example, null, 2);
  const first = examples.get(text);
  if (first !== undefined) return `<p>An example is at <a href="#${first}">${first}</a>.</p>`;
  examples.set(text, id);
  return `<details><summary>Example of a 200</summary><pre tabindex="0"><code>${escapeText(text)}</code></pre></details>`;
}

export function linkTo(code: string): string {
  return `<a href="#${code}">${code}</a>`;
}

/** Error codes and meanings in the description of a response. */
export function readCodes(description: string): [code: string, meaning: string][] {
  return [...description.matchAll(/^`([A-Z_]+)`: (.*)$/gm)].map(([, code, meaning]) => [code!, meaning!]);
}

/** Rows with their own headers. */
export function writeTable(rows: readonly string[]): string {
  return `<table><tbody>${rows.join('\n')}</tbody></table>\n`;
}

/** For text between tags: quotes may stay. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
