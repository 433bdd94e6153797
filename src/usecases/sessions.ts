// Sessions of the console: opened by a sign-in or a token, looked at with every request, ended by signing out.
import { describeAdministrator, type Identity, isAdministrator } from '../domain/admin.ts';
import { formatInstant } from '../domain/datetime.ts';
import { AppError } from '../domain/errors.ts';
import { newSecret, type Picture, SESSION_MS, type Session } from '../domain/session.ts';
import { requireAdministrator } from './access.ts';
import type { Context } from './context.ts';

/** By how much the clocks of nodes may differ. */
const CLOCK_SKEW_MS = 3_600_000;

export interface OpenedSession {
  readonly sealed: string;
  readonly expiresMs: number;
}

/** Answers that are taken to the provider, per hour and client network: each is a request of ours to it. */
const SIGN_INS_PER_HOUR = 100;

/** Takes one of those of the network; false where none is left. */
export async function spendSignIn({ store, clock }: Context, network: string): Promise<boolean> {
  const { allowed } = await store.spend(`sign-in ${network}`, SIGN_INS_PER_HOUR, 1, clock());
  return allowed;
}

/** A new session, over at `latestMs` at the latest. Undefined where the claims are too long to be kept. */
export async function openSession(
  { clock, random, console }: Context,
  identity: Identity,
  latestMs = Number.POSITIVE_INFINITY,
): Promise<OpenedSession | undefined> {
  const expiresMs = Math.floor(Math.min(clock() + SESSION_MS, latestMs) / 1000) * 1000;
  const sealed = await console.sessions.seal({ id: newSecret(random), identity, expiresMs });
  return sealed === undefined ? undefined : { sealed, expiresMs };
}

/** Throws NOT_FOUND where there is a provider to sign in with. */
export function requireTokenSessions({ console }: Context): void {
  if (!console.signIn) return;
  throw new AppError('NOT_FOUND', `Tokens open no session here: sign in with ${console.signIn.provider}.`);
}

/** Throws INVALID_TOKEN. */
export async function openTokenSession(context: Context, token: string): Promise<OpenedSession> {
  const { identity, expiresMs } = await context.verifyToken(token);
  const opened = await openSession(context, identity, expiresMs);
  if (!opened) throw new AppError('INVALID_TOKEN', 'The token says more than a session can keep.');
  if (opened.expiresMs <= context.clock()) throw new AppError('INVALID_TOKEN', 'The token has expired.');
  return opened;
}

/** The session, unless it has expired or was ended. One that lasts too long, or is of another kind, is none of ours. */
async function findSession(
  { store, clock, console }: Context,
  sealed: string | undefined,
): Promise<Session | undefined> {
  const session = sealed === undefined ? undefined : await console.sessions.open(sealed);
  if (!session || session.expiresMs > clock() + SESSION_MS + CLOCK_SKEW_MS) return undefined;
  if (session.identity.local !== (console.signIn === undefined)) return undefined;
  return (await store.isSessionEnded(session.id)) ? undefined : session;
}

/** The administrator whose session it is. Throws INVALID_TOKEN or NOT_AN_ADMIN. */
export async function authenticateSession(context: Context, sealed: string): Promise<Identity> {
  const session = await findSession(context, sealed);
  if (!session) throw new AppError('INVALID_TOKEN', 'The session is over. Sign in again at /admin.');
  return requireAdministrator(context, session.identity);
}

/** From now on no copy of it opens anything. Nothing happens where it was over already. */
export async function endSession(context: Context, sealed: string | undefined): Promise<void> {
  const session = await findSession(context, sealed);
  if (!session) return;
  // Forgotten only when it is over by the clock of every node.
  await context.store.endSession(session.id, session.expiresMs + CLOCK_SKEW_MS, context.clock());
}

/** What the console shows about who sits in front of it; `picturePath` is where their picture can be had. */
export async function describeSession(context: Context, sealed: string | undefined, picturePath: string) {
  const session = await findSession(context, sealed);
  const { signIn, pictures } = context.console;
  const provider = signIn?.provider ?? null;
  if (!session) return { provider, user: null, is_administrator: false, expires_at: null };
  const { identity, expiresMs } = session;
  const { email, name, picture } = describeAdministrator(identity);
  const is_administrator = isAdministrator(identity, context.policy.administrators);
  const hasPicture = is_administrator && picture !== '' && pictures.mayFetch(picture);
  return {
    provider,
    user: { email, name, picture: hasPicture ? picturePath : '', subject: identity.subject },
    is_administrator,
    expires_at: formatInstant(expiresMs),
  };
}

/** Of an administrator: nobody else makes the service ask other hosts. Throws NOT_FOUND. */
export async function getPicture(context: Context, sealed: string | undefined): Promise<Picture> {
  const session = await findSession(context, sealed);
  const isAllowed = session && isAdministrator(session.identity, context.policy.administrators);
  const address = isAllowed ? session.identity.picture : undefined;
  const picture = address === undefined ? undefined : await context.console.pictures.fetch(address);
  if (!picture) throw new AppError('NOT_FOUND', 'There is no picture.');
  return picture;
}
