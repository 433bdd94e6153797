// Writes client/src/types.ts: what agents send and get, as TypeScript, from the API description. Run it after a change to a
// route, a shape or an error code: npm run build:client-types
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ERRORS, type ErrorCode } from '../src/domain/errors.ts';
import { operationsOf, rangeOf } from '../src/http/guide/operations.ts';
import { describeApi } from '../src/http/openapi.ts';
import { DESCRIBED_ROUTES } from '../src/http/routes/table.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = 'client/src/types.ts';

/** The parts of an OpenAPI description that types are made of. */
export interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface AgentOperation extends DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  readonly isBodyRequired: boolean;
  /** Content types and shapes of a success. */
  readonly content: Content;
}

/** The operations of the interface that are for agents. */
export function agentOperations({ paths }: Api): AgentOperation[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/') && !path.startsWith('/v1/admin'))
    .flatMap(([path, { parameters: shared = [], ...methods }]) =>
      Object.entries(methods as Record<string, DescribedOperation>).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
        parameters: [...(operation.parameters ?? []), ...(shared as Parameter[])],
        body: operation.requestBody?.content['application/json']?.schema,
        isBodyRequired: operation.requestBody?.required ?? false,
        content: operation.responses[200]?.content ?? {},
      })),
    );
}

/** The name of the type of an operation's query; undefined if it has none. */
export function queryTypeOf({ operationId, parameters }: AgentOperation): string | undefined {
  return parameters.some((each) => each.in === 'query') ? `${pascal(operationId)}Query` : undefined;
}

const FORMATS: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'application/geo+json': 'geojson',
  'text/calendar': 'ics',
  'application/ld+json': 'jsonld',
};

/** The text of client/src/types.ts, not yet formatted. */
export function typesOf(api: Api): string {
  const operations = agentOperations(api);
  const writer = new TypeWriter(api.components.schemas);
  const queries = operations.map((operation) => {
    const name = queryTypeOf(operation);
    if (!name) return '';
    // With several formats, the method itself has the parameter, because its result depends on it.
    const fields = operation.parameters.filter(
      (each) => each.in === 'query' && !(each.name === 'format' && Object.keys(operation.content).length > 1),
    );
    const properties = Object.fromEntries(
      fields.map(({ name, schema, description }) => [name, { ...schema, description } as Schema]),
    );
    const required = fields.filter((each) => each.required).map((each) => each.name);
    const doc = comment(`Parameters of ${operation.operationId}.`);
    return `${doc}export interface ${name} ${writer.object({ properties, required }, true)}\n`;
  });
  const formats = operations.map(({ operationId, content }) => {
    if (Object.keys(content).length < 2) return '';
    const members = Object.entries(content).map(([type, { schema }]) => {
      if (!FORMATS[type]) throw new Error(`FORMATS has no name for ${type}.`);
      return `${FORMATS[type]}: ${writer.typeOf(schema, false)};`;
    });
    const doc = comment(`What ${operationId} returns, by format.`);
    return `${doc}export interface ${pascal(operationId)}Formats {\n${members.join('\n')}\n}\n`;
  });
  for (const { body, content } of operations) {
    if (body) writer.typeOf(body, true);
    for (const { schema } of Object.values(content)) writer.typeOf(schema, false);
  }
  writer.typeOf({ $ref: '#/components/schemas/ValidationErrorResponse' }, false);
  return [
    '// What agents send to the service and get from it. Made by scripts/build-client-types.ts: do not edit.\n',
    ...writer.declarations(),
    ...queries,
    ...formats,
    errorStatuses(),
  ]
    .filter(Boolean)
    .join('\n');
}

function errorStatuses(): string {
  const members = (Object.keys(ERRORS) as ErrorCode[]).map(
    (code) => `${comment(ERRORS[code].meaning)}${code}: ${ERRORS[code].status};`,
  );
  const doc = comment('Error codes of the service, and their statuses.');
  return `${doc}export interface ErrorStatuses {\n${members.join('\n')}\n}\n`;
}

/** Fields of events whose values are a type of their own, because several shapes have them. */
const ENUMS = { event_type: 'EventType', audience: 'Audience', status: 'EventStatus' };

/** Writes shapes as types and remembers which named ones they use. */
class TypeWriter {
  readonly #schemas: Readonly<Record<string, Schema>>;
  /** Names of types by the values of an enumeration. */
  readonly #enums = new Map<string, string>();
  readonly #written = new Map<string, string>();
  readonly #inputs = new Set<string>();

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
    for (const [field, name] of Object.entries(ENUMS))
      this.#enums.set(JSON.stringify(schemas.Event!.properties![field]!.enum), name);
  }

  declarations(): string[] {
    const enums = [...this.#enums].map(
      ([values, name]) => `export type ${name} = ${union(JSON.parse(values))};\n`,
    );
    const names = Object.keys(this.#schemas).filter((name) => this.#written.has(name));
    return [...enums, ...names.map((name) => this.#written.get(name)!)];
  }

  typeOf(schema: Schema, isInput: boolean): string {
    const { $ref, type, items, anyOf, properties } = schema;
    if ($ref) return this.#refer($ref.split('/').at(-1)!, isInput);
    if (anyOf) return anyOf.map((each) => this.typeOf(each, isInput)).join(' | ');
    if (schema.enum) return this.#enums.get(JSON.stringify(schema.enum)) ?? union(schema.enum);
    if (properties) return (isInput ? undefined : this.#partOf(schema)) ?? this.object(schema, isInput);
    if (items) {
      const item = this.typeOf(items, isInput);
      const isTuple = schema.minItems !== undefined && schema.minItems === schema.maxItems;
      const list = isTuple
        ? `[${Array(schema.minItems).fill(item).join(', ')}]`
        : item.includes(' ')
          ? `(${item})[]`
          : `${item}[]`;
      return isInput ? `readonly ${list}` : list;
    }
    const types = [type].flat().map((each) => PRIMITIVES[each as string]);
    if (types.includes(undefined)) throw new Error(`There is no type for ${JSON.stringify(schema)}.`);
    return types.join(' | ');
  }

  /** The members in braces. Optional members of inputs may also be undefined. */
  object({ properties = {}, required = [] }: Schema, isInput: boolean, without: Schema = {}): string {
    const inherited = Object.keys(without.properties ?? {});
    const members = Object.entries(properties)
      .filter(([name]) => !inherited.includes(name))
      .map(([name, schema]) => {
        const type = this.typeOf(schema, isInput);
        const key = /^\w+$/.test(name) ? name : `'${name}'`;
        const member = required.includes(name)
          ? `${key}: ${type}`
          : `${key}?: ${type}${isInput ? ' | undefined' : ''}`;
        return `${comment(describe(schema, isInput))}${member};`;
      });
    return members.length > 0 ? `{\n${members.join('\n')}\n}` : 'Record<string, never>';
  }

  #refer(name: string, isInput: boolean): string {
    if (isInput) this.#inputs.add(name);
    else if (this.#inputs.has(name))
      throw new Error(`${name} is sent and received: give one of them another name.`);
    if (this.#written.has(name)) return name;
    this.#written.set(name, '');
    const schema = this.#schemas[name]!;
    const base = isInput ? undefined : this.#baseOf(schema);
    if (base) this.#refer(base, isInput);
    const head = `export interface ${name}${base ? ` extends ${base}` : ''}`;
    this.#written.set(
      name,
      `${head} ${this.object(schema, isInput, base ? this.#schemas[base] : undefined)}\n`,
    );
    return name;
  }

  /** The largest other shape of which this one has all fields. */
  #baseOf(schema: Schema): string | undefined {
    return Object.entries(this.#schemas)
      .filter(([, other]) => sizeOf(other) < sizeOf(schema) && isPart(other, schema))
      .sort(([, a], [, b]) => sizeOf(b) - sizeOf(a))[0]?.[0];
  }

  /** A shape without a name, if it is the smallest named one that has all its fields, without the others. */
  #partOf(schema: Schema): string | undefined {
    const [found] = Object.entries(this.#schemas)
      .filter(([, other]) => isPart(schema, other))
      .sort(([, a], [, b]) => sizeOf(a) - sizeOf(b));
    if (!found) return undefined;
    const missing = Object.keys(found[1].properties!).filter((name) => !(name in schema.properties!));
    return `Omit<${this.#refer(found[0], false)}, ${union(missing)}>`;
  }
}

/** Whether the large shape has all fields of the small one. Shapes with a few fields agree by chance. */
function isPart(small: Schema, large: Schema): boolean {
  const { properties: fields = {}, required = [] } = large;
  return (
    sizeOf(small) >= MIN_COMMON_FIELDS &&
    Object.entries(small.properties!).every(
      ([name, field]) =>
        JSON.stringify(field) === JSON.stringify(fields[name]) &&
        required.includes(name) === (small.required ?? []).includes(name),
    )
  );
}

const MIN_COMMON_FIELDS = 10;

function sizeOf({ properties = {} }: Schema): number {
  return Object.keys(properties).length;
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

function union(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(' | ');
}

/** What is true of a request in HTTP and not of a call. */
const HTTP_ONLY = [
  ' Write the + of an offset as %2B.',
  'Repeat it for several values. ',
  ' Repeat it, or separate values by commas.',
];

/** Description, and for what is sent limits and default. */
function describe(schema: Schema, isInput: boolean): string {
  const { format, minimum, maximum, minLength, maxLength } = schema;
  const text = HTTP_ONLY.reduce((rest, part) => rest.replace(part, ''), schema.description ?? '');
  const facts = [
    ...rangeOf(minimum, maximum),
    ...rangeOf(minLength, maxLength, ' characters'),
    ...(schema.default === undefined ? [] : [`default: ${schema.default}`]),
  ].join('; ');
  return [
    text,
    isInput && facts && `${facts[0]!.toUpperCase()}${facts.slice(1)}.`,
    format === 'date-time' && 'RFC 3339.',
  ]
    .filter(Boolean)
    .join(' ');
}

const MAX_COMMENT = 100;

function comment(text: string): string {
  if (text === '') return '';
  if (text.length <= MAX_COMMENT) return `/** ${text} */\n`;
  const lines = [''];
  for (const word of text.split(' ')) {
    if (`${lines.at(-1)} ${word}`.length > MAX_COMMENT) lines.push('');
    lines[lines.length - 1] += ` ${word}`;
  }
  return `/**\n${lines.map((line) => ` *${line}`).join('\n')}\n */\n`;
}

function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Formats it as the rest of the code. */
export function format(text: string): string {
  const biome = fileURLToPath(new URL('../node_modules/.bin/biome', import.meta.url));
  return execFileSync(biome, ['format', `--stdin-file-path=${FILE}`], {
    cwd: ROOT,
    input: text,
    encoding: 'utf8',
  });
}

if (import.meta.main) {
  const api = JSON.parse(JSON.stringify(describeApi(operationsOf(DESCRIBED_ROUTES), ''))) as Api;
  writeFileSync(new URL(`../${FILE}`, import.meta.url), format(typesOf(api)));
}
