// The arguments of a call, held against what the tool says that it takes, so that a model learns at once of everything that
// it got wrong, of names that it made up, too. What depends on more than one of them is left to the use cases.
import type { TObject } from 'typebox';
import { refuse } from '../domain/errors.ts';
import { compile } from '../domain/shape.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Many models send null for whatever they do not want to say, so it counts as left out, unless `nullClears`. Throws
 * VALIDATION_ERROR.
 */
export function argumentReader(input: TObject, nullClears: boolean): (given: unknown) => Arguments {
  const check = compile(input);
  return (given) => {
    const args = nullClears ? given : withoutNulls(given);
    refuse(check(args, 'arguments').issues);
    return args as Arguments;
  };
}

function withoutNulls(given: unknown): object {
  return Object.fromEntries(Object.entries(Object(given)).filter(([, value]) => value !== null));
}
