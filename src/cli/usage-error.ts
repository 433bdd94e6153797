// A command line that was not understood.

/** Shown with the help text; exit code 2. */
export class UsageError extends Error {}
