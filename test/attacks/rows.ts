// The table of attacks.
import type { Row } from './row.ts';
import { anonymousReads } from './rows/anonymous-reads.ts';
import { calendarPages } from './rows/calendar-pages.ts';
import { idleConnections, idleConnectionsFromManyAddresses } from './rows/idle-connections.ts';
import { largeCreates } from './rows/large-creates.ts';
import { linkedDataHeads } from './rows/linked-data-heads.ts';
import { eventsOfManyFields, registrationsOfManyFields } from './rows/many-fields.ts';
import { manyWords, mixedWords } from './rows/many-words.ts';
import { oauthRequests } from './rows/oauth.ts';
import { ownEvents } from './rows/own-events.ts';
import { pipelinedRequests } from './rows/pipelined-requests.ts';
import { placeNames } from './rows/place-names.ts';
import { abandonedPrefixSearches, prefixSearches } from './rows/prefix-searches.ts';
import { searches } from './rows/searches.ts';
import { signInCallbacks } from './rows/sign-in-callbacks.ts';
import { toolCalls } from './rows/tool-calls.ts';
import { unfinishedBodies, unfinishedEvents } from './rows/unfinished-bodies.ts';
import { unreadDescriptions, unreadPages } from './rows/unread-responses.ts';

export const ROWS = {
  calendarPages,
  linkedDataHeads,
  unreadPages,
  unreadDescriptions,
  idleConnections,
  idleConnectionsFromManyAddresses,
  unfinishedBodies,
  unfinishedEvents,
  registrationsOfManyFields,
  eventsOfManyFields,
  ownEvents,
  toolCalls,
  signInCallbacks,
  oauthRequests,
  largeCreates,
  manyWords,
  mixedWords,
  prefixSearches,
  abandonedPrefixSearches,
  placeNames,
  searches,
  pipelinedRequests,
  anonymousReads,
} as const satisfies Record<string, Row>;

export type RowName = keyof typeof ROWS;
