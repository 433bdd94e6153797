// A history of writes and searches, and the check that it is linearizable: that all of it could have happened one after the
// other, each operation at some moment between its call and its response.
//
// Every object is written by one client, one write after the other, so its versions are in a known order: 1 for the create, then
// 2, 3 …, the last possibly a delete. A search sees a version of every object at the same moment.

export interface Write {
  readonly object: string;
  /** From 1; consecutive for an object. */
  readonly version: number;
  readonly isDelete: boolean;
  readonly beganMs: number;
  /** Infinity if nobody knows whether it happened. */
  ackedMs: number;
}

export interface Search {
  readonly beganMs: number;
  readonly endedMs: number;
  /** Versions by object. Absent objects were deleted or not yet created. */
  readonly seen: ReadonlyMap<string, number>;
  /** For messages. */
  readonly by: string;
}

/** The versions of one object, the first at index 0. */
type Versions = readonly Write[];

/** All versions of an object, and when it was there at all. */
interface ObjectHistory {
  readonly name: string;
  readonly versions: Versions;
  readonly beganMs: number;
  /** When its delete was acknowledged. */
  readonly goneMs: number;
}

/**
 * A search with the versions that it saw, by object: 0 before the create, undefined if it could be several. Only of objects that
 * may have been there during the search; all others were absent, as they should.
 */
interface View {
  readonly search: Search;
  readonly versions: ReadonlyMap<ObjectHistory, number | undefined>;
}

const MAX_FOUND = 10;

/** Violations, in words; at most a few. */
export function findViolations(writes: readonly Write[], searches: readonly Search[]): string[] {
  const objects = [...Map.groupBy(writes, ({ object }) => object)]
    .map(([name, all]): ObjectHistory => {
      const versions = all.toSorted((a, b) => a.version - b.version);
      const goneMs = versions.find(({ isDelete }) => isDelete)?.ackedMs ?? Number.POSITIVE_INFINITY;
      return { name, versions, beganMs: versions[0]!.beganMs, goneMs };
    })
    .sort((a, b) => a.beganMs - b.beganMs);
  const names = new Map(objects.map((object) => [object.name, object]));
  const violations: string[] = [];
  const views: View[] = [];
  let begun: ObjectHistory[] = [];
  let next = 0;
  for (const search of searches.toSorted((a, b) => a.beganMs - b.beganMs)) {
    const known = new Set<ObjectHistory>();
    for (const name of search.seen.keys()) {
      const object = names.get(name);
      if (object) known.add(object);
      else violations.push(`${search.by} saw ${name}, which nobody created`);
    }
    while (next < objects.length && objects[next]!.beganMs < search.endedMs) begun.push(objects[next++]!);
    begun = begun.filter(({ goneMs }) => goneMs >= search.beganMs); // gone for all later searches, too
    for (const object of begun) if (object.beganMs < search.endedMs) known.add(object);
    const versions = new Map([...known].map((object) => [object, versionSeen(search, object, violations)]));
    const view = { search, versions };
    views.push(view);
    violations.push(...contradictions(view));
    if (violations.length > MAX_FOUND) return violations;
  }
  return [...violations, ...backwards(views), ...incomparable(views)].slice(0, MAX_FOUND);
}

/** The version that the search saw; undefined if that is unclear or wrong. */
function versionSeen(
  search: Search,
  { name, versions }: ObjectHistory,
  violations: string[],
): number | undefined {
  const seen = search.seen.get(name);
  const ackedBefore = versions.findLast(({ ackedMs }) => ackedMs < search.beganMs)?.version ?? 0;
  const begun = versions.findLast(({ beganMs }) => beganMs < search.endedMs);
  const last = begun?.version ?? 0;
  if (seen !== undefined) {
    if (seen >= ackedBefore && seen <= last) return seen;
    violations.push(`${search.by} saw ${name} version ${seen}, not one from ${ackedBefore} to ${last}`);
    return undefined;
  }
  const canBeNew = ackedBefore === 0;
  const canBeDeleted = begun?.isDelete === true;
  if (canBeNew) return canBeDeleted ? undefined : 0;
  if (canBeDeleted) return last;
  violations.push(`${search.by} did not see ${name}, which has version ${ackedBefore} to ${last}`);
  return undefined;
}

/** If a search saw a write, it must have seen every write that was acknowledged before that one began. */
function contradictions({ search, versions }: View): string[] {
  let latest = { beganMs: Number.NEGATIVE_INFINITY, name: '' };
  for (const [object, version] of versions) {
    const write = version === undefined ? undefined : object.versions[version - 1];
    if (write && write.beganMs > latest.beganMs) latest = { beganMs: write.beganMs, name: object.name };
  }
  return [...versions].flatMap(([object, version]) => {
    const required = object.versions.findLast(({ ackedMs }) => ackedMs < latest.beganMs)?.version ?? 0;
    if (version === undefined || version >= required) return [];
    return [
      `${search.by} saw a write of ${latest.name}, but not the earlier version ${required} of ${object.name}`,
    ];
  });
}

/** A search must not see less than one that ended before it began. */
function backwards(views: readonly View[]): string[] {
  const ended = views.toSorted((a, b) => a.search.endedMs - b.search.endedMs);
  const most = new Map<ObjectHistory, number>();
  const violations: string[] = [];
  let next = 0;
  for (const { search, versions } of views) {
    for (; ended[next] && ended[next]!.search.endedMs < search.beganMs; next++)
      for (const [object, version] of ended[next]!.versions)
        most.set(object, Math.max(most.get(object) ?? 0, version ?? 0));
    for (const [object, version] of versions) {
      const least = most.get(object) ?? 0;
      if (version !== undefined && version < least)
        violations.push(`${search.by} saw ${object.name} version ${version} after somebody saw ${least}`);
    }
    if (violations.length > MAX_FOUND) return violations;
  }
  return violations;
}

/** Of two searches, one must have seen everything that the other saw. Those of different times were compared before. */
function incomparable(views: readonly View[]): string[] {
  const violations: string[] = [];
  for (const [at, first] of views.entries()) {
    for (let next = at + 1; next < views.length; next++) {
      const second = views[next]!;
      if (second.search.beganMs > first.search.endedMs) break;
      const less = difference(first, second);
      const more = less && difference(second, first);
      if (!less || !more) continue;
      violations.push(
        `${first.search.by} saw less of ${less.name} and more of ${more.name} than ${second.search.by}`,
      );
      if (violations.length > MAX_FOUND) return violations;
    }
  }
  return violations;
}

/** An object of which `a` saw less than `b`. */
function difference(a: View, b: View): ObjectHistory | undefined {
  for (const object of new Set([...a.versions.keys(), ...b.versions.keys()])) {
    const [inA, inB] = [versionIn(a, object), versionIn(b, object)];
    if (inA !== undefined && inB !== undefined && inA < inB) return object;
  }
  return undefined;
}

function versionIn({ search, versions }: View, object: ObjectHistory): number | undefined {
  if (versions.has(object)) return versions.get(object);
  return object.goneMs < search.beganMs ? object.versions.length : 0;
}
