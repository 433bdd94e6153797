// Reads the arguments of a tool call once, and reports all their problems together, including unknown names. Models often send
// an empty value for an argument that they do not use, or one value instead of a list. Both are taken as they are meant.
import type { TObject } from 'typebox';
import { readTogether, refuse } from '../domain/errors.ts';
import Type from '../domain/schema.ts';
import { compile, findUnknown } from '../domain/shape.ts';

export type Arguments = Readonly<Record<string, unknown>>;

export interface ArgumentRules<Input> {
  readonly input: TObject;
  /** Whether null is a value. If not, it counts as omitted, like the empty string and the empty list. */
  readonly nullClears?: true;
  /** Converts the arguments to the input of `run`. Need not check `event_id`. Throws VALIDATION_ERROR. */
  read(args: Arguments, nowMs: number): Input;
}

/** Throws VALIDATION_ERROR naming every argument that fails. */
export function argumentReader<Input>(rules: ArgumentRules<Input>): (given: unknown, nowMs: number) => Input {
  const { event_id, ...others } = rules.input.properties;
  const known = new Set([...(event_id ? ['event_id'] : []), ...Object.keys(others)]);
  const lists = new Set([...known].filter((name) => isList(rules.input.properties[name])));
  const checkId = event_id && compile(Type.Object({ event_id }));
  return (given, nowMs) => {
    const args = asMeant(Object(given), lists, rules.nullClears === true);
    const [, , input] = readTogether(
      () => refuse(findUnknown(args, known, 'arguments')),
      () => refuse(checkId?.(args, 'arguments').issues ?? []),
      () => rules.read(args, nowMs),
    );
    return input;
  };
}

function isList(schema: object | undefined): boolean {
  return (schema as { type?: unknown } | undefined)?.type === 'array';
}

/** The arguments without empty values, and with a list of one value where a list is expected. */
function asMeant(given: object, lists: ReadonlySet<string>, nullClears: boolean): Arguments {
  const kept = Object.entries(given).filter(
    ([, value]) =>
      value !== '' && (value !== null || nullClears) && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(
    kept.map(([name, value]) => [name, lists.has(name) && typeof value === 'string' ? [value] : value]),
  );
}
