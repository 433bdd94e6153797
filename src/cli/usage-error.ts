// Error for an invalid command line.

/** Printed together with the help text; exit code 2. */
export class UsageError extends Error {}
