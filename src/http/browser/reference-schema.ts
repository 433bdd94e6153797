// The parts of the OpenAPI description that /docs shows, and its schemas in words.
import { escapeHtml } from '../guide/html.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
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

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Content {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}

export interface ApiDescription {
  readonly info: { readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Operation>> & { parameters?: readonly Parameter[] }>
  >;
  readonly components: object;
}

/** What a reference within the description names; anything else as it is. */
export function resolve<T extends { readonly $ref?: string }>(api: ApiDescription, value: T): T {
  if (value.$ref === undefined) return value;
  const names = value.$ref.slice('#/'.length).split('/');
  return names.reduce((part: unknown, name) => (part as Record<string, unknown>)[name], api) as T;
}

/** The type of a value, as HTML. */
export function writeType(schema: Schema): string {
  if (schema.enum) return escapeHtml(schema.enum.join(', '));
  if (schema.anyOf) return schema.anyOf.map(writeType).join(' or ');
  if (schema.type === 'array') return `list of ${schema.items ? writeType(schema.items) : 'values'}`;
  const types = [schema.type ?? 'object'].flat();
  return escapeHtml(types.map((type) => (type === 'string' && schema.format) || type).join(' or '));
}

/** Its limits and default, as HTML. */
export function writeLimits({ minimum, maximum, maxLength, default: preset }: Schema): string {
  const limits = [
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}`,
    minimum !== undefined && maximum === undefined && `at least ${minimum}`,
    minimum === undefined && maximum !== undefined && `at most ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    preset !== undefined && preset !== '' && `default ${escapeHtml(String(preset))}`,
  ];
  return limits
    .filter((text) => text !== false)
    .map((text) => `, ${text}`)
    .join('');
}
