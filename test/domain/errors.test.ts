// The table of errors as the interface and the decisions define it, and the message of a validation error.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError, ERRORS, type Issue, invalid, refuse, StartError } from '../../src/domain/errors.ts';

const STATUSES = {
  BAD_REQUEST: 400,
  MISSING_API_KEY: 401,
  INVALID_API_KEY: 401,
  MISSING_TOKEN: 401,
  INVALID_TOKEN: 401,
  INSUFFICIENT_TIER: 403,
  INSUFFICIENT_SCOPE: 403,
  EVENT_LIMIT_REACHED: 403,
  NOT_AN_ADMIN: 403,
  ORIGIN_NOT_ALLOWED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  DUPLICATE_EVENT: 409,
  NOT_RESTORABLE: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  URI_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  VALIDATION_ERROR: 422,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  OVERLOADED: 503,
  UNAVAILABLE: 503,
};

describe('ERRORS', () => {
  it('has every code with its status, and no other', () => {
    const table = Object.entries(ERRORS).map(([code, { status }]) => [code, status]);
    assert.deepEqual(Object.fromEntries(table), STATUSES);
  });

  it('explains each code in a sentence', () => {
    for (const [code, { meaning }] of Object.entries(ERRORS)) assert.match(meaning, /^[A-Z].*[^.]\.$/, code);
  });
});

describe('invalid', () => {
  const issue = (field: string): Issue => ({ loc: ['body', field], msg: 'is required', type: 'missing' });

  it('names each field with its problem and has the issues', () => {
    const issues = [
      issue('title'),
      { loc: ['query', 'audience', 2], msg: 'must be one of: a', type: 'enum' },
    ];
    const error = invalid(issues);
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'VALIDATION_ERROR');
    assert.equal(error.message, 'body.title: is required; query.audience.2: must be one of: a');
    assert.deepEqual(error.issues, issues);
  });

  it('shortens the message, never the issues; responses have at most 20 of them', () => {
    const issues = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(issue);
    const error = invalid(issues);
    assert.match(error.message, /body\.e: is required; and 2 more$/);
    assert.equal(error.issues?.length, 7);
    assert.doesNotMatch(invalid(issues.slice(0, 5)).message, /more/);
    const many = invalid(Array(21).fill(issue('a')));
    assert.match(many.message, /; and 16 more; detail lists the first 20$/);
    assert.equal(many.issues?.length, 21);
    assert.doesNotMatch(invalid(Array(20).fill(issue('a'))).message, /detail/);
  });
});

describe('refuse', () => {
  it('does nothing without issues', () => refuse([]));
  it('throws for an issue', () => {
    assert.throws(() => refuse([{ loc: ['body'], msg: 'm', type: 't' }]), { code: 'VALIDATION_ERROR' });
  });
});

describe('the error classes', () => {
  it('keep their cause, and have no such property without one', () => {
    const cause = new Error('driver');
    assert.equal(new AppError('UNAVAILABLE', 'm', { cause }).cause, cause);
    assert.equal('cause' in new AppError('UNAVAILABLE', 'm'), false);
    assert.equal(new StartError('m', { cause }).cause, cause);
  });

  it('have their own names and messages', () => {
    assert.equal(String(new AppError('NOT_FOUND', 'gone')), 'AppError: gone');
    assert.equal(String(new StartError('taken')), 'StartError: taken');
    assert.equal(new AppError('RATE_LIMITED', 'm', { retryAfterSeconds: 7 }).retryAfterSeconds, 7);
  });
});
