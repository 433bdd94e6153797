// Places by their names: what can be asked, what is found, and what is said if a name is unknown or could mean several places. The
// names themselves are behind the interface `Places`.
import type { Static } from 'typebox';
import { AppError, type Issue, invalid, refuse } from './errors.ts';
import type { Place } from './events/geo.ts';
import Type, { nameShapes } from './schema.ts';
import { compile, nullableInteger, nullableString } from './shape.ts';

/** Code points of a name with everything that describes it. */
const MAX_NAME_LENGTH = 200;

export const PlaceName = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  description:
    'Name of a town or a district around which to search, instead of lat and lng; in any language, such as Kreuzberg, Berlin. What is behind a comma tells it from others of this name: a region, a country, their codes, or a larger city nearby. Without radius: 10 miles. The header Resolved-Place names the place that was found. If several could be meant, the response is a 422 with candidates.',
});

export const PlacesParameters = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    description:
      'A name or its beginning, in any language. What is behind a comma tells it from others: a region, a country, their codes, or a larger city nearby.',
    examples: ['Springfield, IL'],
  }),
  country: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 2,
      description: 'Only places of this country: an ISO 3166-1 code of two letters, such as US.',
    }),
  ),
  near_lat: Type.Optional(
    Type.Number({
      minimum: -90,
      maximum: 90,
      description: 'Latitude of a point: the nearest places come first, instead of the largest.',
    }),
  ),
  near_lng: Type.Optional(
    Type.Number({ minimum: -180, maximum: 180, description: 'Longitude of that point.' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 50, default: 10, description: 'Maximum number of places.' }),
  ),
});

const location = {
  name: Type.String({ examples: ['Springfield'] }),
  region: nullableString({
    description: 'State, province or the like; null if unknown.',
    examples: ['Illinois'],
  }),
  country: Type.String({ description: 'ISO 3166-1 code.', examples: ['US'] }),
  lat: Type.Number({ examples: [39.80172] }),
  lng: Type.Number({ examples: [-89.64371] }),
};

export const FoundPlace = Type.Object({
  ...location,
  timezone: Type.String({ description: 'IANA timezone name.', examples: ['America/Chicago'] }),
  population: nullableInteger({ description: 'null if unknown.', examples: [116250] }),
});
export type FoundPlace = Static<typeof FoundPlace>;

export const PlacesResponse = Type.Object({
  places: Type.Array(FoundPlace, {
    description:
      'Places with exactly this name come first; then, if q has no comma, those whose names begin with it. Among each, the largest come first or, with near_lat and near_lng, the nearest.',
  }),
});

export const PlaceCandidate = Type.Object({
  place: Type.String({
    description: 'What to send as place to search around this one.',
    examples: ['Springfield, Illinois, US'],
  }),
  ...location,
});
export type PlaceCandidate = Static<typeof PlaceCandidate>;

nameShapes({ FoundPlace, PlacesResponse });

export interface PlacesQuery {
  readonly q: string;
  /** In capital letters. */
  readonly country: string | undefined;
  readonly near: Place | undefined;
  readonly limit: number;
}

export interface ResolvedPlace extends Place {
  readonly name: string;
  /** The larger city that the text names or else the region. */
  readonly within: string | null;
  readonly country: string;
}

/** What a text means: one place, none, or one of several, of which the likeliest come first. */
export type Resolution =
  | { readonly kind: 'found'; readonly place: ResolvedPlace }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly PlaceCandidate[] };

/** Names of places. The first call loads them; all throw UNAVAILABLE if that fails. */
export interface Places {
  find(query: PlacesQuery): Promise<readonly FoundPlace[]>;
  /** The place that a text means. Each candidate's `place` means exactly that candidate. */
  resolve(text: string): Promise<Resolution>;
}

/**
 * A place in ASCII, as headers have it, for people and programs to check: its name, what it is in, its country and its coordinates. As the
 * name of a place it means this place.
 */
export function describePlace({ name, within, country, lat, lng }: ResolvedPlace): string {
  const names = [name, within ?? '', country].map(toAscii).filter((part) => part !== '');
  return `${names.join(', ')}; ${lat},${lng}`;
}

/** Letters that are no ASCII letter with a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    ø: 'o',
    ł: 'l',
    đ: 'd',
    ð: 'd',
    þ: 'th',
    ħ: 'h',
    ı: 'i',
    ə: 'a',
    ŋ: 'n',
    ŧ: 't',
  },
  ...{ Æ: 'AE', Œ: 'OE', Ø: 'O', Ł: 'L', Đ: 'D', Ð: 'D', Þ: 'Th', Ħ: 'H', Ə: 'A', Ŋ: 'N', Ŧ: 'T' },
  ...{ '’': "'", '‘': "'", ʼ: "'", ʻ: "'", '–': '-', '—': '-' },
};
const NOT_ASCII = /[^\x20-\x7e]/gu;

/** The name in ASCII, for headers. Letters that have no counterpart are left out. */
export function toAscii(name: string): string {
  return name
    .normalize('NFKD')
    .replace(NOT_ASCII, (letter) => LETTERS[letter] ?? '')
    .trim();
}

const check = compile(PlacesParameters);
const COUNTRY = /^[A-Za-z]{2}$/;

/** `at` is the first step of every `loc`. Throws VALIDATION_ERROR naming every failing parameter. */
export function readPlaces(parameters: unknown, at: string): PlacesQuery {
  const { value, issues } = check(parameters, at);
  const { q, country, near_lat: lat, near_lng: lng, limit } = value;
  if ((lat === undefined) !== (lng === undefined) && issues.length === 0) {
    const missing = lat === undefined ? 'near_lat' : 'near_lng';
    issues.push({ loc: [at, missing], msg: 'is required with the other coordinate', type: 'missing' });
  }
  if (country !== undefined && !COUNTRY.test(country))
    issues.push({
      loc: [at, 'country'],
      msg: 'must be a code of two letters such as US',
      type: 'value_error',
    });
  refuse(issues);
  const near = lat === undefined || lng === undefined ? undefined : { lat, lng };
  return { q, country: country?.toUpperCase(), near, limit: limit! };
}

/** The place of a resolution. Throws VALIDATION_ERROR for any other; `at` is the first step of its `loc`. */
export function resolvedPlace(resolution: Resolution, at: string): ResolvedPlace {
  if (resolution.kind === 'found') return resolution.place;
  const loc = [at, 'place'];
  if (resolution.kind === 'unknown') {
    const msg =
      'is not a known place; check the spelling, send a town or district nearby, or send lat and lng instead';
    throw invalid([{ loc, msg, type: 'value_error' }]);
  }
  const { candidates } = resolution;
  const choices = candidates.map(({ place }) => JSON.stringify(place)).join(', ');
  const issue: Issue = {
    loc,
    msg: `does not name one place clearly; send the one that is meant, such as ${choices}`,
    type: 'value_error',
  };
  const { code, message, issues } = invalid([issue]);
  throw new AppError(code, message, { issues: issues!, candidates });
}
