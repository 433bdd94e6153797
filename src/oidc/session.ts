// Sessions as sealed text that fits in a cookie. Encryption is left to seal.ts, the cookie itself to http/.
import type { JWTPayload } from 'jose';
import type { Identity } from '../domain/administration/admin.ts';
import type { Session, SessionSeal } from '../domain/administration/session.ts';
import { newSeal, type SealOptions } from './seal.ts';

/** Browsers drop a cookie of more than 4,096 bytes; many proxies by default reject responses with longer headers. */
const MAX_SEALED_LENGTH = 3_000;
const MAX_NAME_LENGTH = 200;
const MAX_PICTURE_LENGTH = 1_000;

export async function sessionSeal(options: Omit<SealOptions, 'purpose'>): Promise<SessionSeal> {
  const { seal, open } = await newSeal({ ...options, purpose: 'session 1' });
  return {
    seal: async ({ id, identity, expiresMs, epoch }) => {
      for (const shorter of shorten(identity)) {
        const sealed = await seal({ jti: id, epoch: epoch || undefined, ...toClaims(shorter) }, expiresMs);
        if (sealed.length <= MAX_SEALED_LENGTH) return sealed;
      }
      return undefined;
    },
    open: async (sealed, atMs) => {
      const claims = sealed.length <= MAX_SEALED_LENGTH ? await open(sealed, atMs) : undefined;
      return claims && toSession(claims);
    },
  };
}

/**
 * Versions of an identity with fewer and fewer display fields. Fields that decide who is an administrator are never cut: the
 * result would be another person.
 */
function* shorten(identity: Identity): Generator<Identity> {
  const { name, picture } = identity;
  const usual = {
    ...identity,
    name: name && [...name].slice(0, MAX_NAME_LENGTH).join(''),
    picture: picture && picture.length > MAX_PICTURE_LENGTH ? undefined : picture,
  };
  yield usual;
  yield { ...usual, picture: undefined };
  yield { ...usual, picture: undefined, name: undefined };
}

function toClaims({ subject, emailVerified, hostedDomain, ...others }: Identity): JWTPayload {
  return { sub: subject, email_verified: emailVerified, hd: hostedDomain, ...others };
}

function toSession(claims: JWTPayload): Session {
  const { jti, exp, epoch, sub, email_verified, hd, email, name, picture, local } = claims;
  const identity = { subject: sub, emailVerified: email_verified, hostedDomain: hd, email, name, picture };
  return {
    id: jti!,
    identity: { ...identity, local },
    expiresMs: exp! * 1000,
    ...(epoch ? { epoch } : {}),
  } as Session;
}
