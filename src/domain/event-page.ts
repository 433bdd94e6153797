// A page of events for agents: what its parameters and members are in every list of events, and how it is written.
import Type from 'typebox';
import { nullableString } from './shape.ts';
import { joinWire, type Wire } from './wire.ts';

export const PAGE_PARAMETERS = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 30, description: 'Events per page.' }),
  ),
  cursor: Type.Optional(
    Type.String({ description: 'next_cursor of the page before; leave it out for the first page.' }),
  ),
};

/** What a page says beside its events, of which `all` says what they are in all. */
export function pageFields(all: string) {
  return {
    count: Type.Integer({ minimum: 0, description: 'Events in this response.', examples: [1] }),
    total: Type.Integer({
      minimum: 0,
      description: `${all}, on all pages together; exact.`,
      examples: [1],
    }),
    next_cursor: nullableString({
      description: 'Pass it as cursor for the next page; null: there is none.',
      examples: [null],
    }),
  };
}

/** Joined from events that are encoded already. */
export function encodePage(events: readonly Wire[], total: number, cursor: string | undefined): Wire {
  return joinWire('{"events":[', events, `],${pageMembers(events.length, total, cursor)}}`);
}

/** What a page says beside its events, as members of a JSON object. */
export function pageMembers(count: number, total: number, cursor: string | undefined): string {
  const next = cursor === undefined ? 'null' : `"${cursor}"`;
  return `"count":${count},"total":${total},"next_cursor":${next}`;
}
