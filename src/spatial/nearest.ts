// Finds the nearest events in the place tree: branch and bound. Visits the nearest children of a node first, and skips those
// that are farther than the last event of the page. Counting is left to others.
import type { Leaves } from './leaves.ts';
import type { NearestPage } from './nearest-page.ts';
import { FAN, type Nodes } from './nodes.ts';
import type { PlaceQuery } from './place-query.ts';

/** Offers the events below this node (or leaf, written as its complement) to the page. */
export function searchNearest(
  root: number,
  nodes: Nodes,
  leaves: Leaves,
  query: PlaceQuery,
  page: NearestPage,
  depth = 0,
): void {
  if (root < 0) {
    leaves.searchNearest(~root, query, page);
    return;
  }
  const { x, y, z, fromMs, beforeMs } = query;
  const { box } = nodes;
  if (depth === LEVELS.length) LEVELS.push({ near: new Float64Array(FAN), child: new Int32Array(FAN) });
  const { near, child } = LEVELS[depth]!;
  let length = 0;
  const end = nodes.end(root);
  for (let at = root * FAN; at < end; at++) {
    if (nodes.lastMs[at]! < fromMs || nodes.firstMs[at]! >= beforeMs) continue;
    const b = at * 6;
    const x0 = box[b]! - x;
    const y0 = box[b + 1]! - y;
    const z0 = box[b + 2]! - z;
    const x1 = box[b + 3]! - x;
    const y1 = box[b + 4]! - y;
    const z1 = box[b + 5]! - z;
    const nearX = x0 > 0 ? x0 : x1 < 0 ? x1 : 0;
    const nearY = y0 > 0 ? y0 : y1 < 0 ? y1 : 0;
    const nearZ = z0 > 0 ? z0 : z1 < 0 ? z1 : 0;
    const nearest = nearX * nearX + nearY * nearY + nearZ * nearZ;
    if (nearest > page.last) continue;
    const farX = -x0 > x1 ? x0 : x1;
    const farY = -y0 > y1 ? y0 : y1;
    const farZ = -z0 > z1 ? z0 : z1;
    // Rounding is monotonic, so no place of the box is farther than this, nor nearer than `nearest`.
    if (farX * farX + farY * farY + farZ * farZ < page.from) continue;
    let place = length++;
    for (; place > 0 && near[place - 1]! > nearest; place--) {
      near[place] = near[place - 1]!;
      child[place] = child[place - 1]!;
    }
    near[place] = nearest;
    child[place] = nodes.child[at]!;
  }
  for (let place = 0; place < length && near[place]! <= page.last; place++)
    searchNearest(child[place]!, nodes, leaves, query, page, depth + 1);
}

/** Children that are still to be visited, by depth. */
const LEVELS: { readonly near: Float64Array; readonly child: Int32Array }[] = [];
