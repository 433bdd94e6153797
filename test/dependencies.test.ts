// The lock file. npm may run on Node 20, so every package must accept Node 20, or npm prints a warning. The overrides in
// package.json hold back packages whose newest versions depend on packages that need Node 22.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

/** The oldest Node that every package accepts: README says Node 20. */
const NODE = [20, 19, 0];

interface LockedPackage {
  readonly version: string;
  readonly resolved?: string;
  readonly engines?: { readonly node?: string };
  /** npm skips it on machines that it does not fit. */
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, LockedPackage>;
};

/** Whether NODE is in a range of versions: comparators side by side must all hold; `||` separates alternatives. */
function admits(range: string): boolean {
  return range.split('||').some((side) => {
    const comparators = [...side.matchAll(/([<>]=?|\^|~|=)?\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/g)];
    return comparators.every(([, operator = '=', ...parts]) => {
      const given = parts.filter((part) => part !== undefined).map(Number);
      const order = compare(given);
      if (operator === '>=') return order >= 0;
      if (operator === '<') return order < 0;
      if (operator === '^') return order >= 0 && given[0] === NODE[0];
      if (operator === '=') return given.every((part, at) => part === NODE[at]);
      throw new Error(`${range} has an unknown comparator: ${operator}`);
    });
  });
}

/** Below 0 if NODE is older than this version, above 0 if it is newer. */
function compare(given: readonly number[]): number {
  const at = NODE.findIndex((part, index) => part !== (given[index] ?? 0));
  return at === -1 ? 0 : NODE[at]! - (given[at] ?? 0);
}

describe('the lock file', () => {
  it('has no package that refuses Node 20', () => {
    const refused = Object.entries(packages)
      .filter(([, { optional, os, cpu }]) => !optional && !os && !cpu)
      .filter(([, { engines }]) => !admits(engines?.node ?? '*'))
      .map(([path, { version, engines }]) => `${path} ${version} needs ${engines!.node}`);
    assert.deepEqual(refused, []);
  });

  it('names no registry', () => {
    const named = Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined);
    assert.deepEqual(
      named.map(([path]) => path),
      [],
    );
  });
});

describe('a range of versions', () => {
  const yes = [
    '*',
    '',
    '>=20',
    '>= 0.6',
    '^20.19.0 || >=22.12.0',
    '>=22.12.0 || >=20.19.0 <21.0.0',
    '20',
    '20.x',
  ];
  const no = [
    '>=22',
    '>=20.19.1',
    '^18 || >=22',
    '>=18 <20',
    '>=22.12.0 || >=20.20.0 <21.0.0',
    '18',
    '^20.20.0',
  ];
  for (const range of yes) it(`${JSON.stringify(range)} includes Node 20`, () => assert.ok(admits(range)));
  for (const range of no) it(`${JSON.stringify(range)} excludes Node 20`, () => assert.ok(!admits(range)));
});
