// Pages of events for agents: the parameters and response fields that every list of events shares, and their JSON.
import Type from '../schema.ts';
import { nullableString } from '../shape.ts';
import { joinWire, type Wire } from '../wire.ts';

/** The parameter `limit`. */
export function pageLimit(items: string) {
  return Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 30, description: `${items} per page.` }),
  );
}

/** The field `next_cursor`. */
export const NEXT_CURSOR = nullableString({
  description: 'Pass it as cursor for the next page; null on the last page.',
  examples: [null],
});

export const PAGE_PARAMETERS = {
  limit: pageLimit('Events'),
  cursor: Type.Optional(
    Type.String({ description: 'next_cursor of the previous page; omit it for the first page.' }),
  ),
};

/** Page fields besides `events`; `all` says what `total` counts. */
export function pageFields(all: string) {
  return {
    count: Type.Integer({ minimum: 0, description: 'Events in this response.', examples: [1] }),
    total: Type.Integer({
      minimum: 0,
      description: `${all} on all pages; exact.`,
      examples: [1],
    }),
    next_cursor: NEXT_CURSOR,
  };
}

/** Joins encoded events to the JSON of a page. */
export function encodePage(events: readonly Wire[], total: number, cursor: string | undefined): Wire {
  return joinWire('{"events":[', events, `],${pageMembers(events.length, total, cursor)}}`);
}

/** Page fields besides `events`, as members of a JSON object. */
export function pageMembers(count: number, total: number, cursor: string | undefined): string {
  const next = cursor === undefined ? 'null' : `"${cursor}"`;
  return `"count":${count},"total":${total},"next_cursor":${next}`;
}

/** The number of events that fit in a page of this size: all of them, or as many as it has room for, at least one. */
export function countFitting(events: readonly Wire[], maxBytes: number): number {
  let bytes = 0;
  const end = events.findIndex((event, at) => {
    bytes += event.length;
    return bytes > maxBytes && at > 0;
  });
  return end < 0 ? events.length : end;
}

/**
 * What an engine has read for a page: one row more than the page has tells that more follow. Returns the rows of the page, and the last one if more follow. `isRow` is false for a row that has only the total, because the page is empty.
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  isRow: (row: Row) => boolean = () => true,
): { page: Row[]; last: Row | undefined } {
  const page = rows.slice(0, limit).filter(isRow);
  return { page, last: rows.length > limit ? page.at(-1) : undefined };
}
