// The argument that names an event.
import { refuse } from '../domain/errors.ts';
import { compile } from '../domain/shape.ts';
import { EventIdInput } from './schemas.ts';

const check = compile(EventIdInput);

/** Throws VALIDATION_ERROR unless it is a text. One that is no identifier is simply unknown. */
export function readEventId(args: unknown): string {
  const { value, issues } = check(args, 'arguments');
  refuse(issues);
  return value.event_id;
}
