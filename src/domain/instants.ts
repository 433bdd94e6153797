// Query parameters that are instants: their shape, and their values in milliseconds. Date-times in bodies are read in event-input.ts,
// because they depend on the event's timezone.
import { isWithinYears, OUTSIDE_YEARS, parseDateTime } from './datetime.ts';
import type { Issue } from './errors.ts';
import Type from './schema.ts';

/** `meaning` ends with a full stop. */
export function instant(meaning: string) {
  const description = `${meaning} Without an offset, it is UTC. Write the + of an offset as %2B.`;
  return Type.Optional(Type.String({ format: 'date-time', description }));
}

/** Returns the reader of these parameters, by name. It adds an issue for an instant outside of the years that the service knows. */
export function instantsIn<T extends object>(
  parameters: T,
  at: string,
  issues: Issue[],
): (name: keyof T & string) => number | undefined {
  return (name) => {
    const text = parameters[name] as string | undefined;
    const time = text === undefined ? undefined : parseDateTime(text);
    if (!time) return undefined;
    const ms = 'ms' in time ? time.ms : Date.parse(`${time.local}Z`);
    if (!isWithinYears(ms)) issues.push({ loc: [at, name], ...OUTSIDE_YEARS });
    return ms;
  };
}
