// Reads the arguments of a tool call once, and reports all their problems together, including unknown names.
import Type, { type TObject } from 'typebox';
import { readTogether, refuse } from '../domain/errors.ts';
import { compile, findUnknown } from '../domain/shape.ts';

export type Arguments = Readonly<Record<string, unknown>>;

export interface ArgumentRules<Input> {
  readonly input: TObject;
  /** Whether null is a value. If not, it counts as omitted: many models send null for arguments that they do not use. */
  readonly nullClears?: true;
  /** Converts the arguments to the input of `run`. Need not check `event_id`. Throws VALIDATION_ERROR. */
  read(args: Arguments, nowMs: number): Input;
}

/** Throws VALIDATION_ERROR naming every argument that fails. */
export function argumentReader<Input>(rules: ArgumentRules<Input>): (given: unknown, nowMs: number) => Input {
  const { event_id, ...others } = rules.input.properties;
  const known = new Set([...(event_id ? ['event_id'] : []), ...Object.keys(others)]);
  const checkId = event_id && compile(Type.Object({ event_id }));
  return (given, nowMs) => {
    const args = (rules.nullClears ? Object(given) : withoutNulls(Object(given))) as Arguments;
    const [, , input] = readTogether(
      () => refuse(findUnknown(args, known, 'arguments')),
      () => refuse(checkId?.(args, 'arguments').issues ?? []),
      () => rules.read(args, nowMs),
    );
    return input;
  };
}

function withoutNulls(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
