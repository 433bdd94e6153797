// What an endpoint says about itself, and what all of them share: introduction, groups, headers. operations.ts derives the rest.
import type { TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../../domain/errors.ts';
import Type from '../../domain/schema.ts';
import type { Access } from '../access/authenticate.ts';

export interface Description {
  readonly operationId: string;
  readonly tag: (typeof TAGS)[number]['name'];
  readonly summary: string;
  readonly description: string;
  readonly path?: TObject;
  readonly query?: TObject;
  /** Query parameters beyond the contract. They are described on the path, which must have no other operation. */
  readonly extras?: TObject;
  /** Request headers. */
  readonly headers?: TObject;
  readonly body?: TObject;
  readonly isBodyOptional?: boolean;
  /** Limit of the body; by default the one of bodies without an event. */
  readonly maxBodyBytes?: number;
  /** Schema of the 200 response; absent if the success is a 204. */
  readonly response?: TSchema;
  readonly otherFormats?: readonly OtherFormat[];
  /** Headers of a success, besides those that follow from `access`. */
  readonly responseHeaders?: readonly HeaderName[];
  /** Schema of the 503 response, if it has more than the usual envelope. */
  readonly unavailable?: TSchema;
  /** Further responses by status, besides those that follow from the other members. */
  readonly otherResponses?: Readonly<Record<number, OtherResponse>>;
  /** Error codes besides those that follow from `access`, `path`, `query` and `body`. */
  readonly errors?: readonly ErrorCode[];
}

/** A response format other than JSON. */
export interface OtherFormat {
  readonly contentType: string;
  readonly schema: TSchema;
  readonly example: unknown;
}

export interface OtherResponse {
  readonly description: string;
  /** Schemas by media type. */
  readonly content?: Readonly<Record<string, TSchema>>;
}

export interface DescribedRoute {
  readonly method: string;
  /** Parameters are in braces. */
  readonly path: string;
  readonly endpoint: Description;
  readonly access: Access | 'open' | 'mcp';
}

export const INTRODUCTION = `Register with an e-mail and a name, keep the key that comes back, and send it as \`X-API-Key\`.

Bodies are JSON. Times are RFC 3339; responses use UTC with milliseconds. Distances are great-circle distances in miles.
Every error is \`{"error": {"code", "message"}}\`; a 422 adds \`detail\` with the failing fields, at most 20. Every \`GET\` also supports \`HEAD\`.
Without \`Accept\` and \`format\`, every response is JSON. A short guide for agents is at \`/llms.txt\` (text) and \`/for-agents\` (web page).

Unknown parameters and fields are ignored, and named in \`X-Unknown-Parameters\` and \`X-Unknown-Fields\`. Send \`Prefer: handling=strict\`
with every request to get a 422 instead: otherwise a misspelt filter finds everything.

Models can use the same functions as tools: \`POST /mcp\` is a Model Context Protocol server that lists its tools
(\`tools/list\`). \`components/pathItems/mcp\` in this document describes how to call it.`;

export const TAGS = [
  { name: 'Registration', description: 'Get a key.' },
  { name: 'Events', description: 'Search, read, create, change and delete events. Needs a key.' },
  { name: 'Places', description: 'Find places by their names. Needs a key.' },
  { name: 'Agent', description: 'Your own agent: quota, events and keys. Needs a key.' },
  {
    name: 'Administration',
    description: 'List, change and delete agents and events. Needs an administrator’s token or session.',
  },
  { name: 'Service', description: 'The service itself.' },
] as const;

/** Request headers of every operation of a key or an administrator. */
export const PREFERENCES = Type.Object({
  Prefer: Type.Optional(
    Type.String({
      description:
        '`handling=strict`: unknown parameters and fields, and a create of an event that has ended, are a 422 instead of being accepted.',
      examples: ['handling=strict'],
    }),
  ),
});

export type HeaderName = keyof typeof HEADERS;

/** Response headers. */
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
  'Resolved-Place': header(
    'The place that `place` means, in ASCII: its name, the larger city that `place` names or else its region, its country, and its coordinates, such as `Kreuzberg, Berlin, DE; 52.49973,13.40338`. Absent without `place`.',
  ),
  'Idempotent-Replayed': header(
    '`true`: you already had this event, and nothing was created. Absent if it is new.',
  ),
};

function header(description: string) {
  return { description, schema: { type: 'string' } };
}
