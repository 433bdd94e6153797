// How much a test does: little in `npm test`, all of it in `npm run test:long` (LONG=1). The long run has exactly the test
// files that import this one, so only test files may, never what they share (test/suite.test.ts).

const isLong = process.env.LONG === '1';

/** The size for this run. The short one must still be able to fail. */
export function size<T>(short: T, long: T): T {
  return isLong ? long : short;
}
