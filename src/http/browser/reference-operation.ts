// One operation of /docs as HTML: what it does, the request as code, a form that sends it, its parameters, body and responses.
import type { ErrorCode } from '../../domain/errors.ts';
import { escapeHtml, inline } from '../guide/html.ts';
import { type Caller, type Operation, type Parameter, rangeOf, type Schema } from '../guide/operations.ts';
import { credential, LANGUAGES, toRequest } from './pages/samples.js';

/** Operations that end a key, or delete; their button asks once more. */
const CAREFUL = /^(?:delete|revoke)/;

/** A parameter as it is shown: an example fills its field, a hint does not. */
type Field = Parameter & { readonly hint?: unknown };

/** What all operations share. */
export interface Shared {
  readonly baseUrl: string;
  /** Error codes that every operation with this access can get; the section of errors lists them. */
  readonly commonCodes: Readonly<Record<Caller, ReadonlySet<ErrorCode>>>;
  /** The examples so far, and the operation that shows each. */
  readonly examples: Map<string, string>;
}

export function writeOperation(operation: Operation, shared: Shared): string {
  const { path, caller, isPublic, endpoint } = operation;
  const { operationId: id, summary, description } = endpoint;
  const method = operation.method.toLowerCase();
  const parameters = [...operation.parameters, ...operation.extraParameters].map(withoutVersion);
  const body = exampleBody(operation);
  const hasContent = endpoint.response !== undefined;
  const data = [
    caller !== 'anyone' && `data-access="${caller}"`,
    isPublic && 'data-public',
    hasContent && 'data-content',
    CAREFUL.test(id) && 'data-careful',
  ];
  const filled = parameters.map(({ name, in: place, example }) => ({
    name,
    place,
    value: example === undefined ? '' : String(example),
  }));
  const sent = toRequest(
    { method: operation.method, path, filled, body, hasContent },
    shared.baseUrl,
    credential(isPublic ? 'anyone' : caller, ''),
  );
  return `<form class="operation ${method}" id="${id}" autocomplete="off" ${data.filter((part) => part).join(' ')}>
<div class="about">
<h3><a href="#${id}">${inline(summary)}</a></h3>
<p class="route"><span class="method">${operation.method}</span> <code>${escapeHtml(path)}</code></p>
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
${parameters.length > 0 ? writeParameters(parameters) : ''}${operation.body ? writeBody(operation.body, body!) : ''}${writeResponses(operation, shared)}
</div>
</form>`;
}

/** The version in an example is not that of a real event: it is only a hint in the field, and not sent. */
function withoutVersion(parameter: Parameter): Field {
  if (!parameter.name.startsWith('If-')) return parameter;
  return { ...parameter, example: undefined, hint: parameter.example };
}

/** An example of a change has one field. */
function exampleBody({ method, body }: Operation): string | undefined {
  if (!body) return undefined;
  const example = (body.example ?? {}) as object;
  const shown = method === 'PATCH' ? Object.fromEntries(Object.entries(example).slice(0, 1)) : example;
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

function writeBody({ description, shape }: NonNullable<Operation['body']>, example: string): string {
  const { properties = {}, required = [] }: Schema = shape;
  const rows = Object.entries(properties).map(([name, field]) => {
    const about = field.description ? `<p>${inline(field.description)}</p>` : '';
    return `<tr><th scope="row">${escapeHtml(name)}</th><td><small>${writeType(field)}${writeLimits(field)}${required.includes(name) ? ', <strong>required</strong>' : ''}</small>${about}</td></tr>`;
  });
  const lines = Math.min(16, example.split('\n').length);
  const field = `<textarea rows="${lines}">${escapeText(example)}</textarea>`;
  return `<h4><label>Body</label></h4>\n<p>${inline(description)}</p>\n${field}\n${rows.length > 0 ? writeTable(rows) : ''}`;
}

/** The type of a value, as HTML. */
function writeType(schema: Schema): string {
  if (schema.enum) return escapeHtml(schema.enum.join(', '));
  if (schema.anyOf) return schema.anyOf.map(writeType).join(' or ');
  if (schema.type === 'array') return `list of ${schema.items ? writeType(schema.items) : 'values'}`;
  const types = [schema.type ?? 'object'].flat();
  return escapeHtml(types.map((type) => (type === 'string' && schema.format) || type).join(' or '));
}

/** Its limits and default, as HTML. */
function writeLimits({ minimum, maximum, maxLength, default: preset }: Schema): string {
  const limits = [...rangeOf(minimum, maximum), ...rangeOf(undefined, maxLength, ' characters')];
  if (preset !== undefined && preset !== '') limits.push(`default ${escapeHtml(String(preset))}`);
  return limits.map((text) => `, ${text}`).join('');
}

function writeResponses(operation: Operation, { commonCodes, examples }: Shared): string {
  const { endpoint, caller, successes, errors, example } = operation;
  const row = (status: number, about: string) => `<tr><th scope="row">${status}</th><td>${about}</td></tr>`;
  const rows = successes.map(([status, meaning]) => row(status, meaning));
  for (const [status, codes] of errors) {
    const own = codes.filter((code) => !commonCodes[caller].has(code));
    if (own.length > 0) rows.push(row(status, own.map(linkTo).join(' ')));
  }
  const others = '<p><a href="#errors">Errors of every request</a></p>';
  const shown = example === undefined ? '' : writeExample(endpoint.operationId, example, examples);
  return `<h4>Responses</h4>\n${writeTable(rows)}${others}${shown}`;
}

/** An example that another operation already has is a link to that. */
function writeExample(id: string, example: unknown, examples: Map<string, string>): string {
  const text = JSON.stringify(example, null, 2);
  const first = examples.get(text);
  if (first !== undefined) return `<p>An example is at <a href="#${first}">${first}</a>.</p>`;
  examples.set(text, id);
  return `<details><summary>Example of a 200</summary><pre tabindex="0"><code>${escapeText(text)}</code></pre></details>`;
}

export function linkTo(code: ErrorCode): string {
  return `<a href="#${code}">${code}</a>`;
}

/** Rows with their own headers. */
export function writeTable(rows: readonly string[]): string {
  return `<table><tbody>${rows.join('\n')}</tbody></table>\n`;
}

/** For text between tags: quotes may stay. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
