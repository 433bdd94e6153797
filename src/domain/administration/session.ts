// Sessions of administrators in the console, the ports for sealing them and for signing in, and where a sign-in may return to.

import { HOUR_MS } from '../clock-and-random.ts';
import type { Identity } from './admin.ts';

/** Maximum duration of a session. */
export const SESSION_MS = 8 * HOUR_MS;

/** Maximum duration of a sign-in. */
export const SIGN_IN_MS = 600_000;

export interface Session {
  /** Unpredictable. The store records it when the session is ended. */
  readonly id: string;
  readonly identity: Identity;
  readonly expiresMs: number;
  /**
   * Random text, the same for all sessions of a subject until they sign out everywhere. Not a time: clocks can be wrong. Undefined
   * or empty: the subject never did.
   */
  readonly epoch?: string | undefined;
}

/** Converts sessions to text that only the nodes of this service can read or make. */
export interface SessionSeal {
  /** Short enough for a cookie: unimportant claims are left out if necessary. Undefined if that is not enough. */
  seal(session: Session): Promise<string | undefined>;
  /** Undefined for text that was not sealed by this service with this configuration, or that has expired at `atMs`, by default now. */
  open(sealed: string, atMs?: number): Promise<Session | undefined>;
}

/**
 * Why a sign-in failed. `state`: the response belongs to no sign-in that began here. `denied`: the provider refused.
 * `provider`: the provider did not respond, or its response is invalid. `often`: too many sign-ins from the same network.
 */
export type SignInProblem = 'state' | 'denied' | 'provider' | 'often';

export type SignInOutcome =
  | { readonly kind: 'signed-in'; readonly identity: Identity; readonly returnPath: string }
  | {
      readonly kind: 'failed';
      readonly problem: SignInProblem;
      readonly returnPath: string;
      /** For the log; contains no secrets. */
      readonly cause?: Error;
    };

export interface SignInRequest {
  /** The URL to which the provider redirects afterwards. */
  readonly redirectUri: string;
  /** The page of the console to show after that. */
  readonly returnPath: string;
  /** Whether the provider lets the user choose an account, even if already signed in there. */
  readonly chooseAccount: boolean;
}

/** Sign-in with the identity provider. */
export interface SignIn {
  /** Name of the provider, shown to users; its host, if the operator set none. */
  readonly provider: string;
  /** The URL to redirect to, and sealed state for `finish`. Throws UNAVAILABLE if the provider does not respond. */
  begin(request: SignInRequest): Promise<{ readonly url: string; readonly sealed: string }>;
  /**
   * Checks the query of the provider's redirect against the sealed state from `begin`, then exchanges the code. Calls
   * `mayExchange` at most once, between the two: a forged callback does not count as an attempt. Throws only what `mayExchange` throws.
   */
  finish(
    query: string,
    sealed: string | undefined,
    mayExchange: () => Promise<boolean>,
  ): Promise<SignInOutcome>;
}

export interface Picture {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Profile pictures, from the URLs that the provider gives. */
export interface Pictures {
  /** Whether `load` would send a request to this URL at all. */
  mayLoad(url: string): boolean;
  /** Undefined if there is no picture that may be shown. */
  load(url: string): Promise<Picture | undefined>;
}

/** Everything that the console needs to sign users in and to recognise them. */
export interface ConsoleAccess {
  /** Undefined if there is no provider: then a token of the service's own issuer opens a session. */
  readonly signIn: SignIn | undefined;
  readonly sessions: SessionSeal;
  readonly pictures: Pictures;
}

const HOME = '/admin';
/** Enough for a view with a long search and a cursor. Sealed, it still fits in a cookie. */
const MAX_PATH_LENGTH = 1_500;

/** Plain segments only: no escapes, no empty segments, nothing that a browser could read as another host. */
const VIEW_PATH = /^\/admin(?:\/[A-Za-z0-9_~.-]+)*\/?$/;
const VIEW_QUERY = /^[A-Za-z0-9_~.!*'()&=+%:@,;/?$-]*$/;

/** Paths that have an effect when they are opened, or show no view. */
const NOT_VIEWS =
  /^\/admin\/(?:login|callback|session|token|logout|logout-everywhere|picture|assets)(?:\/|$)/;

/**
 * The path, if it is a view of the console on this service; otherwise the console's first page. Anybody can make a link with such a path.
 */
export function toReturnPath(wanted: string | undefined): string {
  if (wanted === undefined || wanted.length > MAX_PATH_LENGTH) return HOME;
  const mark = wanted.indexOf('?');
  const path = mark < 0 ? wanted : wanted.slice(0, mark);
  const query = mark < 0 ? '' : wanted.slice(mark + 1);
  const isView = VIEW_PATH.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path) && !NOT_VIEWS.test(path);
  return isView && VIEW_QUERY.test(query) ? wanted : HOME;
}
