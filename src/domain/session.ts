// Sessions of administrators in the console, and the ports to what seals them and to where people sign in.
import type { Identity } from './admin.ts';
import type { Random } from './clock-and-random.ts';

/** How long a session lasts at most. */
export const SESSION_MS = 8 * 3_600_000;

/** How long someone may take to sign in. */
export const SIGN_IN_MS = 600_000;

export interface Session {
  /** Unpredictable; the store remembers it when the session is ended. */
  readonly id: string;
  readonly identity: Identity;
  readonly expiresMs: number;
}

/** Sessions as text that only this service, on any node, can read or make. */
export interface SessionSeal {
  /** Fit for a cookie, whatever the claims are: what does not matter is left out. Undefined where that is not enough. */
  seal(session: Session): Promise<string | undefined>;
  /** Undefined for what was not sealed here, with this configuration, or has expired. */
  open(sealed: string): Promise<Session | undefined>;
}

/**
 * Why nobody is signed in: the answer belongs to no sign-in begun here, was a refusal, or does not hold; or there were too
 * many from the same network.
 */
export type SignInProblem = 'state' | 'denied' | 'provider' | 'often';

export type SignInOutcome =
  | { readonly kind: 'signed-in'; readonly identity: Identity; readonly returnPath: string }
  | {
      readonly kind: 'failed';
      readonly problem: SignInProblem;
      readonly returnPath: string;
      /** For the log; holds nothing secret. */
      readonly cause?: Error;
    };

export interface SignInWish {
  /** Where the provider sends people back to. */
  readonly redirectUri: string;
  /** Where they go on from there. */
  readonly returnPath: string;
  /** Whether the provider asks which account, even if someone is signed in there. */
  readonly chooseAccount: boolean;
}

/** Signing in with the identity provider. */
export interface SignIn {
  /** The host by which people know the provider. */
  readonly provider: string;
  /** Where to send someone, and what they have to bring back. Throws UNAVAILABLE while the provider does not answer. */
  begin(wish: SignInWish): Promise<{ readonly address: string; readonly sealed: string }>;
  /** Judges the query that the provider sent someone back with, and what they have brought back. */
  finish(query: string, sealed: string | undefined): Promise<SignInOutcome>;
}

export interface Picture {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Pictures of people, from wherever the provider says that they are. */
export interface Pictures {
  /** Whether anything would be fetched from there at all. */
  mayFetch(address: string): boolean;
  /** Undefined where there is no picture that may be shown. */
  fetch(address: string): Promise<Picture | undefined>;
}

/** What the console needs to know who sits in front of it. */
export interface ConsoleAccess {
  /** Undefined: there is no provider, and a token of the service's own issuer opens a session. */
  readonly signIn: SignIn | undefined;
  readonly sessions: SessionSeal;
  readonly pictures: Pictures;
}

/** Text that nobody can guess, of 256 bits. */
export function newSecret(random: Random): string {
  return Buffer.from(random(new Uint8Array(32))).toString('base64url');
}
