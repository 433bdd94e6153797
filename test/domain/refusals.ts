// Refusals of the domain in a format that tests can compare, and the seed of the property tests.
import assert from 'node:assert/strict';
import { AppError } from '../../src/domain/errors.ts';

/** Passed to fc.assert, so that a failure repeats in the next run. */
export const SEED = 20_310_501;

/** The issues with which `read` refuses, as `loc.loc: type`; none if it accepts. Rethrows any other error. */
export function refusals(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error;
    assert.ok(error.issues && error.issues.length > 0);
    return error.issues.map((issue) => {
      assert.notEqual(issue.msg, '');
      return `${issue.loc.join('.')}: ${issue.type}`;
    });
  }
}
