// The path after a sign-in: always a view of the console, whatever the link says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toReturnPath } from '../../src/domain/administration/session.ts';
import { SIGN_IN_METHODS } from '../../src/http/browser/sign-in.ts';
import { KEPT, REFUSED } from './return-paths.ts';

const HOME = '/admin';

describe('the path after a sign-in', () => {
  for (const path of KEPT) {
    it(`may be ${path.slice(0, 80)}`, () => assert.equal(toReturnPath(path), path));
  }
  for (const path of REFUSED) {
    it(`is ${HOME} instead of ${JSON.stringify(path.slice(0, 80))}`, () =>
      assert.equal(toReturnPath(path), HOME));
  }

  it('is none of the paths of the sign-in itself', () => {
    for (const path of SIGN_IN_METHODS.keys()) assert.equal(toReturnPath(path), HOME, path);
  });

  it(`is ${HOME} if none is given`, () => assert.equal(toReturnPath(undefined), HOME));

  it('stays under /admin of the same origin, whatever is given', () => {
    const pieces = ['/', '\\', '/admin', '..', '.', '%2e', '%2f', '%5c', '?', '#', '@', ':', 'evil.example'];
    const tricks = fc.array(fc.oneof(fc.constantFrom(...pieces, 'https:', '\t', '\n', '&'), fc.string()));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          tricks.map((parts) => `/admin${parts.join('')}`),
        ),
        (said) => {
          const path = toReturnPath(said);
          const { origin, pathname, hash } = new URL(
            path,
            'https://events.example.com/admin/callback?code=x',
          );
          assert.equal(origin, 'https://events.example.com');
          assert.match(pathname, /^\/admin(?:\/|$)/);
          assert.equal(hash, '');
          assert.match(path, /^[!-~]+$/);
        },
      ),
      { seed: 20_261_115, numRuns: 5_000 },
    );
  });
});
