// The search for events as it is typed in the console: what is sent is never refused because of the prefix.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Issue } from '../../src/domain/errors.ts';
import { readTerms } from '../../src/domain/events/word-query.ts';
import { withPrefix } from '../../web/src/typed-search.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { randomSearch, randomText } from '../support/words-oracle.ts';

describe('a search as it is typed', () => {
  const examples: [typed: string, sent: string][] = [
    ['jaz', 'jaz*'],
    [' CHEAP WATCH ', 'CHEAP WATCH*'],
    ['jazz*', 'jazz*'],
    ['j', 'j'],
    ['AC/D', 'AC/D'],
    ['AC/DC', 'AC/DC*'],
    ['café', 'café*'],
    ['jazz -bru', 'jazz -bru'],
    ['東京', '東京'],
    ['jazz東京', 'jazz東京'],
    ['01JZ9GX4T0QW3N1V8R5Y7K2MHD', '01JZ9GX4T0QW3N1V8R5Y7K2MHD'],
    ['x'.repeat(200), 'x'.repeat(200)],
  ];
  for (const [typed, sent] of examples)
    it(`sends ${sent.slice(0, 30)} for ${typed.slice(0, 30)}`, () => assert.equal(withPrefix(typed), sent));

  it('is refused only if it is also refused without a prefix', () => {
    const chance = new Chance(9);
    const refusals = (q: string) => {
      const issues: Issue[] = [];
      readTerms(q, ['q'], issues);
      return issues.map(({ msg }) => msg);
    };
    for (let count = 0; count < size(2_000, 100_000); count++) {
      const typed = chance.chance(0.5) ? randomSearch(chance) : randomText(chance);
      if (refusals(typed).length > 0) continue;
      assert.deepEqual(refusals(withPrefix(typed)), [], JSON.stringify(typed));
    }
  });
});
