// Entity tags (RFC 9110): what names the state of an event in each form, and the conditions that clients make of it.
import type { KnownVersions } from '../../usecases/events.ts';
import type { Format } from '../response/formats.ts';

export function etagOf(version: number, format: Format): string {
  return format === 'json' ? `"${version}"` : `"${version}-${format}"`;
}

const LIST = /^[\t ,]*(?:W\/)?"[^"]*"(?:[\t ]*,[\t ,]*(?:W\/)?"[^"]*")*[\t ,]*$/;
const TAG = /(W\/)?"([^"]*)"/g;
const OUR_TAG = /^([1-9]\d{0,14})(?:-(?:geojson|ics|jsonld))?$/;

/** The tags of a list; none where it is no such list. */
function tagsIn(header: string): { readonly isWeak: boolean; readonly tag: string }[] {
  if (!LIST.test(header)) return [];
  return [...header.matchAll(TAG)].map(([, weak, tag]) => ({ isWeak: weak !== undefined, tag: tag! }));
}

/** Whether If-None-Match says that the client has this already. Compared weakly: caches on the way may have weakened the tag. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return tagsIn(ifNoneMatch).some(({ tag }) => `"${tag}"` === etag);
}

/**
 * The versions that If-Match names, in whichever form; undefined where any will do. Compared strongly, so weak tags name none.
 * What is no list of tags names none either: a condition that is not understood must not be taken as met.
 */
export function knownVersions(ifMatch: string | undefined): KnownVersions {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const strong = tagsIn(ifMatch).filter(({ isWeak }) => !isWeak);
  return strong.flatMap(({ tag }) => OUR_TAG.exec(tag)?.[1] ?? []).map(Number);
}
