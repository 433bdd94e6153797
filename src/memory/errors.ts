// Errors of searches in memory.
import { AppError } from '../domain/errors.ts';

export function changing(): AppError {
  return new AppError('UNAVAILABLE', 'The data changes faster than it can be read. Retry.');
}

export function wordsUnknown(retryAfterSeconds: number): AppError {
  const message = 'The words of the events are still being read. Retry, or search without q.';
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds });
}

export function tooManyWords(): AppError {
  const message = 'The words of all events need more memory than the service may use. Search without q.';
  return new AppError('OVERLOADED', message);
}
