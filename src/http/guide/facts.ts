// Facts about each operation for the guide, read from the OpenAPI description. The guide therefore agrees with it, and new
// operations appear automatically. guide.ts decides how they are shown.

interface Schema {
  readonly $ref?: string;
  readonly type?: string | string[];
  readonly enum?: readonly string[];
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

type Content = Record<string, { readonly schema: Schema; readonly example?: unknown }>;

interface DescribedOperation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Record<string, unknown>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Record<string, { readonly $ref?: string; readonly content?: Content }>;
}

/** The parts of the OpenAPI description that the guide reads. */
export interface ApiDescription {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Record<string, Record<string, unknown>>;
  readonly components: {
    readonly schemas: Record<string, Schema>;
    readonly headers: Record<string, { readonly description: string }>;
  };
}

export interface Field {
  readonly name: string;
  /** `body`, `path`, `query` or `header`. */
  readonly place: string;
  readonly isRequired: boolean;
  readonly rules: string;
  readonly description: string;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly needsKey: boolean;
  readonly fields: readonly Field[];
  /** Query parameters that have an example. */
  readonly query: readonly [name: string, value: string][];
  readonly pathExamples: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Media types of the response, except JSON. */
  readonly mediaTypes: readonly string[];
  /** Example of the JSON response. */
  readonly response: unknown;
  readonly codes: readonly string[];
}

const METHODS = ['get', 'post', 'patch', 'delete'];

/** All operations in the order of the description, except those for administrators. */
export function operationsOf(api: ApiDescription): Operation[] {
  return Object.entries(api.paths).flatMap(([path, methods]) => {
    // Every operation has the header Prefer; the guide explains it once.
    const shared = ((methods.parameters ?? []) as Parameter[]).filter(({ name }) => name !== 'Prefer');
    return METHODS.filter((method) => method in methods)
      .map((method) => readOperation(api, method, path, methods[method] as DescribedOperation, shared))
      .filter(({ tag }) => tag !== 'Administration');
  });
}

function readOperation(
  api: ApiDescription,
  method: string,
  path: string,
  operation: DescribedOperation,
  shared: readonly Parameter[],
): Operation {
  const parameters = [...(operation.parameters ?? []), ...shared];
  const sent = operation.requestBody?.content['application/json'];
  const received = operation.responses[200]?.content ?? {};
  return {
    method: method.toUpperCase(),
    path,
    tag: operation.tags[0]!,
    summary: operation.summary,
    description: operation.description,
    needsKey: operation.security.some((scheme) => 'ApiKey' in scheme),
    fields: [
      ...parameters.map((parameter) => readParameter(api, parameter)),
      ...(sent ? bodyFields(api, sent.schema) : []),
    ],
    query: examplesOf(parameters, 'query'),
    pathExamples: Object.fromEntries(examplesOf(parameters, 'path')),
    body: sent?.example,
    mediaTypes: Object.keys(received).filter((type) => type !== 'application/json'),
    response: received['application/json']?.example,
    codes: Object.values(operation.responses).flatMap(codesOf),
  };
}

function examplesOf(parameters: readonly Parameter[], place: Parameter['in']): [string, string][] {
  return parameters
    .filter((parameter) => parameter.in === place && parameter.example !== undefined)
    .map(({ name, example }) => [name, String(example)]);
}

function readParameter(api: ApiDescription, parameter: Parameter): Field {
  const { name, schema, required, description = '' } = parameter;
  const isList = schema.type === 'array';
  const rules = isList ? `${rulesOf(api, schema.items ?? {})}; may be repeated` : rulesOf(api, schema);
  return { name, place: parameter.in, isRequired: required, rules, description };
}

function bodyFields(api: ApiDescription, schema: Schema): Field[] {
  const { properties = {}, required = [] } = resolve(api, schema);
  return Object.entries(properties).map(([name, field]) => ({
    name,
    place: 'body',
    isRequired: required.includes(name),
    rules: rulesOf(api, field),
    description: resolve(api, field).description ?? '',
  }));
}

/** Error codes of a response: error responses are named after their codes. */
function codesOf({ $ref }: { $ref?: string }): string[] {
  return $ref?.startsWith('#/components/responses/') ? $ref.split('/').at(-1)!.split('.') : [];
}

function resolve(api: ApiDescription, schema: Schema): Schema {
  return schema.$ref ? (api.components.schemas[schema.$ref.split('/').at(-1)!] ?? schema) : schema;
}

/** Describes a schema in words: its type, range and default. */
function rulesOf(api: ApiDescription, given: Schema): string {
  const schema = resolve(api, given);
  const types = [schema.type ?? []].flat();
  const words: string[] = [];
  if (schema.enum) words.push(`one of ${schema.enum.join(', ')}`);
  else if (types.includes('array')) words.push(`a list, each ${rulesOf(api, schema.items ?? {})}`);
  else if (schema.format) words.push(schema.format);
  else words.push(types.find((type) => type !== 'null') ?? 'any value');
  if (types.includes('null')) words[0] += ' or null';
  words.push(...range(schema.minimum, schema.maximum, ''));
  words.push(...range(schema.minLength, schema.maxLength, ' characters'));
  words.push(...range(schema.minItems, schema.maxItems, ' entries'));
  if (schema.default !== undefined) words.push(`default ${schema.default}`);
  return words.join(', ');
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least === undefined && most === undefined) return [];
  if (most === undefined) return [`at least ${least}${unit}`];
  return [least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`];
}
