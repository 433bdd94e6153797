// What the index holds, what it is asked, and what it finds.
import type { ActiveWindows } from './active-windows.ts';
import type { HandleSet } from './handle-set.ts';
import type { Position } from './page.ts';
import type { TagSet } from './tags.ts';

export interface IndexEntry {
  /** A ULID. */
  readonly id: string;
  /** Kept for the caller; not searchable. */
  readonly version: number;
  /** Row number in the caller's storage, below 2^32. Not searchable. */
  readonly row: number;
  readonly startMs: number;
  /** Searches at or after this time no longer find the event. */
  readonly endsMs: number;
  readonly lat: number;
  readonly lng: number;
  /** Tag of the event type and audience. */
  readonly tag: number;
  /** Whether it is called off: only searches that ask for cancelled events find it. */
  readonly isCancelled: boolean;
  /** When it last changed. Not searchable. */
  readonly updatedMs: number;
  /** Number of the timezone; 0 if there is only one. */
  readonly zone?: number;
  /** Number of the owner, from 1; 0 or none if it has none. Not searchable. */
  readonly owner?: number;
}

export interface IndexQuery {
  readonly lat: number;
  readonly lng: number;
  readonly radiusMiles: number | undefined;
  /** Undefined: all match. */
  readonly tags: TagSet | undefined;
  /** startMs >= startsFromMs and startMs < startsBeforeMs. */
  readonly startsFromMs: number;
  readonly startsBeforeMs: number;
  readonly status: 'scheduled' | 'cancelled' | 'any';
  /** When events must be on, by timezone. Undefined: at any time. */
  readonly active?: ActiveWindows | undefined;
  /** Events that may match. Undefined: all. */
  readonly among?: HandleSet | undefined;
  /** Order of the page. Default: by start. */
  readonly sort?: 'start' | 'distance';
  /** The page holds events after this position; the total counts all matches. */
  readonly after: Position | undefined;
  /** 1 to 100. */
  readonly limit: number;
}

export interface IndexPage {
  /** In order of start and ID, or of distance first. A handle identifies one event as long as that event is in the index. */
  readonly handles: readonly number[];
  readonly total: number;
  readonly more: boolean;
}
