// Sessions of the console: opened by a sign-in or a token, checked with every request, ended by signing out.

import { describeAdministrator, type Identity, isAdministrator } from '../domain/administration/admin.ts';
import { type Picture, SESSION_MS, type Session } from '../domain/administration/session.ts';
import { DAY_MS, HOUR_MS } from '../domain/clock-and-random.ts';
import { formatInstant } from '../domain/datetime.ts';
import { AppError } from '../domain/errors.ts';
import { newSecret } from '../domain/ids.ts';
import { requireAdministrator } from './access.ts';
import type { Context } from './context.ts';

/** Maximum difference between the clocks of nodes. */
const CLOCK_SKEW_MS = HOUR_MS;

/** Ended sessions are remembered this long, so that a clock that jumps ahead and back revives none. */
const REMEMBER_ENDED_MS = 400 * DAY_MS;

/** Names of settings: a session that ended early, and the epoch of the sessions that a subject opens now; those of others have ended. */
const endedName = (sessionId: string) => `ended_session ${sessionId}`;
const epochName = (subject: string) => `session_epoch ${subject}`;

export interface OpenedSession {
  readonly sealed: string;
  readonly expiresMs: number;
}

/** Sign-ins per hour and client network. Each makes the service send a request to the provider. */
const SIGN_INS_PER_HOUR = 100;

/** Takes one sign-in from the quota of the network; false if none is left. */
export async function spendSignIn({ store, clock }: Context, network: string): Promise<boolean> {
  const { allowed } = await store.spend(`sign-in ${network}`, SIGN_INS_PER_HOUR, 1, clock());
  return allowed;
}

/** A new session that ends at `latestMs` at the latest. Undefined if the claims are too long for a session cookie. */
export async function openSession(
  { store, clock, random, console }: Context,
  identity: Identity,
  latestMs = Number.POSITIVE_INFINITY,
): Promise<OpenedSession | undefined> {
  const expiresMs = Math.floor(Math.min(clock() + SESSION_MS, latestMs) / 1000) * 1000;
  const epoch = await store.findSetting(epochName(identity.subject));
  const sealed = await console.sessions.seal({ id: newSecret(random), identity, expiresMs, epoch });
  return sealed === undefined ? undefined : { sealed, expiresMs };
}

/** Throws NOT_FOUND if there is an identity provider: then only a sign-in opens a session. */
export function requireTokenSessions({ console }: Context): void {
  if (!console.signIn) return;
  throw new AppError(
    'NOT_FOUND',
    `Tokens cannot open a session here. Sign in with ${console.signIn.provider}.`,
  );
}

/** Throws INVALID_TOKEN. */
export async function openTokenSession(context: Context, token: string): Promise<OpenedSession> {
  const { identity, expiresMs } = await context.verifyToken(token);
  const opened = await openSession(context, identity, expiresMs);
  if (!opened) throw new AppError('INVALID_TOKEN', "The token's claims do not fit in a session cookie.");
  if (opened.expiresMs <= context.clock())
    throw new AppError('INVALID_TOKEN', 'The token has expired. Get a new one.');
  return opened;
}

/** The session; undefined if it has expired, was ended, lasts too long, or was opened in a way that is no longer configured. */
async function findSession(
  { store, clock, console }: Context,
  sealed: string | undefined,
): Promise<Session | undefined> {
  const session = sealed === undefined ? undefined : await console.sessions.open(sealed);
  if (!session || session.expiresMs > clock() + SESSION_MS + CLOCK_SKEW_MS) return undefined;
  if (session.identity.local !== (console.signIn === undefined)) return undefined;
  const [ended, epoch = ''] = await Promise.all([
    store.findSetting(endedName(session.id)),
    store.findSetting(epochName(session.identity.subject)),
  ]);
  return ended !== undefined || epoch !== (session.epoch ?? '') ? undefined : session;
}

/** The administrator of the session. Throws INVALID_TOKEN or NOT_AN_ADMIN. */
export async function authenticateSession(context: Context, sealed: string): Promise<Identity> {
  const session = await findSession(context, sealed);
  if (!session) throw new AppError('INVALID_TOKEN', 'The session has ended. Sign in again at /admin.');
  return requireAdministrator(context, session.identity);
}

/** Ends the session, so that no copy of its cookie works any more. Does nothing if it has ended already. */
export async function endSession(context: Context, sealed: string | undefined): Promise<void> {
  // Also a session that has expired, or lasts too long: perhaps only by a clock that is wrong now.
  const session = sealed === undefined ? undefined : await context.console.sessions.open(sealed, 0);
  if (!session) return;
  const nowMs = context.clock();
  const atMs = Math.max(session.expiresMs, nowMs) + REMEMBER_ENDED_MS;
  await context.store.setSetting(endedName(session.id), '', { atMs, nowMs });
}

/**
 * Ends all sessions of the administrator, on every node, whenever they were opened. Later sign-ins work. Throws INVALID_TOKEN or
 * NOT_AN_ADMIN: for others the store keeps nothing.
 */
export async function endAllSessions(context: Context, sealed: string | undefined): Promise<void> {
  const { subject } = await authenticateSession(context, sealed ?? '');
  await context.store.setSetting(epochName(subject), newSecret(context.random));
}

/** The signed-in user, for the console. `picturePath` is the path that serves their picture. */
export async function describeSession(context: Context, sealed: string | undefined, picturePath: string) {
  const session = await findSession(context, sealed);
  const { signIn, pictures } = context.console;
  const provider = signIn?.provider ?? null;
  if (!session) return { provider, user: null, is_administrator: false, expires_at: null };
  const { identity, expiresMs } = session;
  const { email, name, picture } = describeAdministrator(identity);
  const is_administrator = isAdministrator(identity, context.policy.administrators);
  const hasPicture = is_administrator && picture !== '' && pictures.mayLoad(picture);
  return {
    provider,
    user: { email, name, picture: hasPicture ? picturePath : '', subject: identity.subject },
    is_administrator,
    expires_at: formatInstant(expiresMs),
  };
}

/** The administrator's picture. For nobody else does the service send requests to other hosts. Throws NOT_FOUND. */
export async function getPicture(context: Context, sealed: string | undefined): Promise<Picture> {
  const session = await findSession(context, sealed);
  const isAllowed = session && isAdministrator(session.identity, context.policy.administrators);
  const url = isAllowed ? session.identity.picture : undefined;
  const picture = url === undefined ? undefined : await context.console.pictures.load(url);
  if (!picture) throw new AppError('NOT_FOUND', 'There is no picture.');
  return picture;
}
