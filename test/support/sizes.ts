// How much a test does: little in `npm test`, all of it in `npm run test:long` (LONG=1). The long run has the test files that
// import this one, themselves or through what they share.

const isLong = process.env.LONG === '1';

/** The size for this run. The short one must still be able to fail. */
export function size<T>(short: T, long: T): T {
  return isLong ? long : short;
}
