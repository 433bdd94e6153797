// Headers of requests and responses as the API description has them. openapi.ts says which operation has which.
import Type from '../domain/schema.ts';

/** Of every operation of a key or an administrator. */
export const PREFERENCES = Type.Object({
  Prefer: Type.Optional(
    Type.String({
      description:
        '`handling=strict`: unknown parameters and fields, and a create of an event that has ended, are a 422 instead of being accepted.',
      examples: ['handling=strict'],
    }),
  ),
});

export const HEADERS = {
  'X-Request-Id': { ...header('ID of this request, also in the log of the service.'), required: true },
  'RateLimit-Policy': header(
    'The quota: requests (q) per window in seconds (w). Absent if there is no quota.',
  ),
  RateLimit: header('Requests left (r) and seconds until the window ends (t). Absent if there is no quota.'),
  'Retry-After': { ...header('Seconds to wait before a retry.'), required: true },
  'WWW-Authenticate': { ...header('How to authenticate.'), required: true },
  ETag: {
    ...header('Version of the event in this format, for If-Match and If-None-Match.'),
    required: true,
  },
  Vary: { ...header('`Accept`: the format of the response may depend on it.'), required: true },
  Link: header('`<…>; rel="next"`: the URL of the next page. Absent on the last page.'),
  'X-Unknown-Parameters': header(
    'Names of query parameters that are unknown to this operation and were ignored. Absent if there are none.',
  ),
  'X-Unknown-Fields': header(
    'Names of fields in the body of an event that are unknown and were ignored. Absent if there are none.',
  ),
  'Preference-Applied': header(
    '`handling=strict`: the request had `Prefer: handling=strict`, so nothing in it was ignored. Absent otherwise.',
  ),
  'Event-Warnings': header(
    '`timezone_mismatch`: the event is stored, but at its start the clocks at `lat`, `lng` differ from those of `timezone`. Is `timezone` right, or are `lat` and `lng` swapped? Absent if they agree.',
  ),
  'Idempotent-Replayed': header(
    '`true`: you already had this event, and nothing was created. Absent if it is new.',
  ),
};

function header(description: string): object {
  return { description, schema: { type: 'string' } };
}
