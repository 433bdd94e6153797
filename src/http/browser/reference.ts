// The API description as HTML: every operation with its parameters, body and responses. /docs shows it at once, and without
// scripts; Swagger UI, which takes a phone seconds, replaces it when somebody wants to try an operation.
import { escapeHtml, inline } from '../guide/html.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}

export interface ApiDescription {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Operation>> & { parameters?: readonly Parameter[] }>
  >;
  readonly components: object;
}

const METHODS = ['get', 'post', 'patch', 'delete'];

/** The operations, by their tags. */
export function writeReference(api: ApiDescription): string {
  const sections = api.tags.map(({ name, description }) => {
    const operations = Object.entries(api.paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]?.tags.includes(name)).map((method) =>
        writeOperation(api, method, path, item[method]!, item.parameters ?? []),
      ),
    );
    return operations.length === 0
      ? ''
      : `<section class="light-tag"><h2>${escapeHtml(name)}</h2><p>${inline(description)}</p>\n${operations.join('\n')}\n</section>`;
  });
  const paragraphs = api.info.description.split('\n\n').map((text) => `<p>${inline(text)}</p>`);
  return `<div class="light-about">${paragraphs.join('\n')}</div>\n${sections.join('\n')}`;
}

function writeOperation(
  api: ApiDescription,
  method: string,
  path: string,
  { operationId, tags, summary, description, parameters = [], requestBody, responses }: Operation,
  shared: readonly Parameter[],
): string {
  const all = [...parameters, ...shared];
  return `<details class="light-operation ${method}" data-operation="${tags[0]}/${operationId}">
<summary><span class="light-method">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code> <span class="light-summary">${inline(summary)}</span></summary>
<div class="light-body">
<p>${inline(description)}</p>
<p><button type="button" class="button try-out">Try it out</button></p>
${all.length > 0 ? writeParameters(all) : ''}
${requestBody ? writeBody(api, requestBody) : ''}
${writeResponses(api, responses)}
</div>
</details>`;
}

function writeParameters(parameters: readonly Parameter[]): string {
  const rows = parameters.map(
    ({ name, in: place, required, description = '', schema }) =>
      `<tr><th scope="row"><code>${escapeHtml(name)}</code></th><td>${escapeHtml(typeOf(schema))}, ${place}${required ? ', required' : ''}</td><td>${inline(description)}${writeLimits(schema)}</td></tr>`,
  );
  return `<h3>Parameters</h3>\n${table(['Name', 'Type', 'About'], rows)}`;
}

function writeBody(api: ApiDescription, { description, content }: Content): string {
  const { schema, example } = content!['application/json']!;
  const { properties = {}, required = [] } = resolve(api, schema);
  const rows = Object.entries(properties).map(([name, reference]) => {
    const field = { ...resolve(api, reference), ...reference };
    return `<tr><th scope="row"><code>${escapeHtml(name)}</code></th><td>${escapeHtml(typeOf(field))}${required.includes(name) ? ', required' : ''}</td><td>${inline(field.description ?? '')}${writeLimits(field)}</td></tr>`;
  });
  return `<h3>Body</h3>\n<p>${inline(description)}</p>\n${rows.length > 0 ? table(['Field', 'Type', 'About'], rows) : ''}${writeExample(example)}`;
}

function writeResponses(api: ApiDescription, responses: Operation['responses']): string {
  const rows = Object.entries(responses).map(([status, response]) => {
    const { description } = resolve(api, response);
    return `<tr><th scope="row">${status}</th><td>${description.split('\n\n').map(inline).join('<br>')}</td></tr>`;
  });
  const example = responses['200']?.content?.['application/json']?.example;
  return `<h3>Responses</h3>\n${table(['Status', 'About'], rows)}${writeExample(example)}`;
}

function writeExample(example: unknown): string {
  if (example === undefined) return '';
  return `<pre tabindex="0"><code>${escapeHtml(JSON.stringify(example, null, 2))}</code></pre>`;
}

function table(head: readonly string[], rows: readonly string[]): string {
  const cells = head.map((name) => `<th scope="col">${name}</th>`).join('');
  return `<div class="light-table"><table><thead><tr>${cells}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>\n`;
}

function writeLimits({ minimum, maximum, maxLength, default: preset }: Schema): string {
  const limits = [
    minimum !== undefined && ` At least ${minimum}.`,
    maximum !== undefined && ` At most ${maximum}.`,
    maxLength !== undefined && ` At most ${maxLength} characters.`,
    preset !== undefined && ` Default: <code>${escapeHtml(JSON.stringify(preset))}</code>.`,
  ];
  return limits.filter((text) => text !== false).join('');
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.type === 'array') return `array of ${schema.items ? typeOf(schema.items) : 'values'}`;
  return [schema.type ?? 'object'].flat().join(' | ');
}

/** What a reference within the description names; anything else as it is. */
function resolve<T extends { readonly $ref?: string }>(api: ApiDescription, value: T): T {
  if (value.$ref === undefined) return value;
  const names = value.$ref.slice('#/'.length).split('/');
  return names.reduce((part: unknown, name) => (part as Record<string, unknown>)[name], api) as T;
}
