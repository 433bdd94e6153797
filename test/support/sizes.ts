// How much a test does: little in `npm test`, everything in `npm run test:long` (LONG=1). The long run has the test files
// that import this one, directly or through shared code.

const isLong = process.env.LONG === '1';

/** The size for this run. A short test must still be able to fail. */
export function size<T>(short: T, long: T): T {
  return isLong ? long : short;
}
