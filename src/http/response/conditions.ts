// Entity tags and conditional requests (RFC 9110). A tag names the version of an event and, except for JSON, the format.
import type { KnownVersions } from '../../usecases/events.ts';
import type { Format } from './formats.ts';

export function etagOf(version: number, format: Format): string {
  return format === 'json' ? `"${version}"` : `"${version}-${format}"`;
}

const LIST = /^[\t ,]*(?:W\/)?"[^"]*"(?:[\t ]*,[\t ,]*(?:W\/)?"[^"]*")*[\t ,]*$/;
const TAG = /(W\/)?"([^"]*)"/g;
const OUR_TAG = /^([1-9]\d{0,14})(?:-(?:geojson|ics|jsonld))?$/;

/** Parses a list of entity tags. An invalid list gives no tags. */
function tagsIn(header: string): { readonly isWeak: boolean; readonly tag: string }[] {
  if (!LIST.test(header)) return [];
  return [...header.matchAll(TAG)].map(([, weak, tag]) => ({ isWeak: weak !== undefined, tag: tag! }));
}

/** Tells whether If-None-Match matches the tag. The comparison is weak, because a cache on the way may have weakened it. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return tagsIn(ifNoneMatch).some(({ tag }) => `"${tag}"` === etag);
}

/**
 * Returns the versions that If-Match names, in any format; undefined if any version will do. The comparison is strong, so
 * weak tags name none. An invalid list names none either: a condition that cannot be parsed must not count as met.
 */
export function knownVersions(ifMatch: string | undefined): KnownVersions {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const strong = tagsIn(ifMatch).filter(({ isWeak }) => !isWeak);
  return strong.flatMap(({ tag }) => OUR_TAG.exec(tag)?.[1] ?? []).map(Number);
}
