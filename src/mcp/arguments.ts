// The arguments of a call, so that a model learns of everything that it got wrong at once, of names that it made up, too.
import Type, { type TObject } from 'typebox';
import { readTogether, refuse } from '../domain/errors.ts';
import { compile, findUnknown } from '../domain/shape.ts';

export type Arguments = Readonly<Record<string, unknown>>;

export interface ArgumentRules {
  readonly input: TObject;
  /** Whether null is a value. Otherwise it counts as left out: many models send it for what they do not want to say. */
  readonly nullClears?: true;
  /** Finds what is wrong with the values, as the use case will. Throws VALIDATION_ERROR. */
  check?(args: Arguments, nowMs: number): void;
}

/** Throws VALIDATION_ERROR naming every argument that fails. */
export function argumentReader(rules: ArgumentRules): (given: unknown, nowMs: number) => Arguments {
  const { event_id, ...others } = rules.input.properties;
  const known = new Set([...(event_id ? ['event_id'] : []), ...Object.keys(others)]);
  const checkId = event_id && compile(Type.Object({ event_id }));
  return (given, nowMs) => {
    const args = (rules.nullClears ? Object(given) : withoutNulls(Object(given))) as Arguments;
    readTogether(
      () => refuse(findUnknown(args, known, 'arguments')),
      () => refuse(checkId?.(args, 'arguments').issues ?? []),
      () => rules.check?.(args, nowMs),
    );
    return args;
  };
}

function withoutNulls(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
