// What a failed call throws: one class, and as a type a union that `code` tells apart.
import type { ErrorStatuses, ValidationErrorResponse } from './types.ts';

/** Codes of this client itself: the service did not say what is wrong. */
interface OwnStatuses {
  /** No complete response, or not in time. A write may have happened. `cause` has the reason. */
  NETWORK_ERROR: undefined;
  /** The response is not one of this service, for example a proxy's. */
  UNEXPECTED_RESPONSE: number;
}

type Statuses = ErrorStatuses & OwnStatuses;

/** Base decisions on it. A newer service may have codes that are not listed here. */
export type ErrorCode = keyof Statuses;

interface Failure<Code extends ErrorCode> extends Error {
  readonly name: 'LocalEventsError';
  readonly code: Code;
  /** The status of the response; undefined if there is none. */
  readonly status: Statuses[Code];
  /** The failing fields of a 422. */
  readonly detail: Code extends 'VALIDATION_ERROR' ? ValidationErrorResponse['detail'] : undefined;
  /** The JSON of the response, which may have more than code, message and detail. */
  readonly body: Code extends keyof OwnStatuses
    ? undefined
    : Code extends 'VALIDATION_ERROR'
      ? ValidationErrorResponse
      : { readonly error: { readonly code: Code; readonly message: string } };
  /** When the service asks to retry, in seconds from the response. */
  readonly retryAfterSeconds: number | undefined;
  /** The ID of the request in the service's log. */
  readonly requestId: string | undefined;
}

export type LocalEventsError = { [Code in ErrorCode]: Failure<Code> }[ErrorCode];

interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string };
  readonly detail?: unknown;
}

class RequestError extends Error {
  override readonly name = 'LocalEventsError';
  readonly code: string;
  readonly status: number | undefined;
  readonly detail: unknown;
  readonly body: ErrorBody | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;

  constructor(
    code: string,
    message: string,
    { response, body, cause }: { response?: Response; body?: ErrorBody; cause?: unknown },
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = response?.status;
    this.detail = body?.detail;
    this.body = body;
    this.retryAfterSeconds = readSeconds(response?.headers.get('retry-after'));
    this.requestId = response?.headers.get('x-request-id') ?? undefined;
  }
}

/** `instanceof` works with it. */
export const LocalEventsError = RequestError as unknown as {
  new (...parameters: ConstructorParameters<typeof RequestError>): LocalEventsError;
  readonly prototype: LocalEventsError;
};

/** Retry-After: seconds, or, from a proxy, a date. */
function readSeconds(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
