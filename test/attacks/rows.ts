// The table of attacks.
import { calendarPages } from './rows/calendar-pages.ts';
import { linkedDataHeads } from './rows/linked-data-heads.ts';
import { unfinishedBodies, unfinishedEvents } from './rows/unfinished-bodies.ts';
import { unreadPages } from './rows/unread-pages.ts';

export const ROWS = {
  calendarPages,
  linkedDataHeads,
  unreadPages,
  unfinishedBodies,
  unfinishedEvents,
} as const;

export type RowName = keyof typeof ROWS;
