// Sealed sessions: a node with the same secret and configuration opens them unchanged until they expire; nothing else opens.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Identity } from '../../src/domain/administration/admin.ts';
import { newSeal, sessionSeal } from '../../src/oidc/seal.ts';
import { anyText } from '../support/any-text.ts';

const NOW_MS = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const SECRET = 'a secret of more than thirty-two characters';
const BINDING = ['https://id.example.com', 'client'];

const ADA: Identity = {
  subject: 'ada',
  email: 'ada@example.com',
  emailVerified: true,
  hostedDomain: 'example.com',
  name: 'Ada Lovelace',
  picture: 'https://example.com/ada.png',
  local: false,
};
const SESSION = { id: 'one', identity: ADA, expiresMs: NOW_MS + HOUR_MS };

const sealOf = (changed: { secret?: string; binding?: readonly string[]; clock?: () => number } = {}) =>
  sessionSeal({ secret: SECRET, binding: BINDING, clock: () => NOW_MS, ...changed });

describe('a sealed session', () => {
  it('is opened by every node with the same secret, issuer and client', async () => {
    const sealed = (await (await sealOf()).seal(SESSION))!;
    assert.deepEqual(await (await sealOf()).open(sealed), SESSION);
    const later = { ...SESSION, epoch: 'second' };
    assert.deepEqual(await (await sealOf()).open((await (await sealOf()).seal(later))!), later);
  });

  it('keeps every claim unchanged, and missing claims undefined', async () => {
    const { seal, open } = await sealOf();
    const unknown = { email: undefined, hostedDomain: undefined, name: undefined, picture: undefined };
    for (const identity of [
      { ...ADA, ...unknown, emailVerified: false },
      { ...ADA, local: true, subject: 'local:ada@example.com' },
      { ...ADA, name: '\u{1F469}\u200D\u{1F4BB} "Ada" \\ \u202E', email: 'ada@b\u00fccher.example' },
    ]) {
      assert.deepEqual((await open((await seal({ ...SESSION, identity }))!))?.identity, identity);
    }
  });

  const others: [what: string, changed: Parameters<typeof sealOf>[0]][] = [
    ['another secret', { secret: `${SECRET}.` }],
    ['another issuer', { binding: ['https://elsewhere.example', 'client'] }],
    ['another client', { binding: ['https://id.example.com', 'other'] }],
    ['no provider', { binding: [] }],
    ['issuer and client that only look alike', { binding: ['https://id.example.com","client'] }],
    ['issuer and client swapped', { binding: ['client', 'https://id.example.com'] }],
  ];
  for (const [what, changed] of others) {
    it(`does not open with ${what}`, async () => {
      const sealed = (await (await sealOf()).seal(SESSION))!;
      assert.equal(await (await sealOf(changed)).open(sealed), undefined);
    });
  }

  it('does not open if it was sealed for another purpose with the same secret', async () => {
    const { seal } = await newSeal({
      secret: SECRET,
      binding: BINDING,
      clock: () => NOW_MS,
      purpose: 'sign-in 1',
    });
    const sealed = await seal({ jti: 'one', sub: 'ada', local: true }, NOW_MS + HOUR_MS);
    assert.equal(await (await sealOf()).open(sealed), undefined);
  });

  it('expires on time', async () => {
    let nowMs = NOW_MS;
    const { seal, open } = await sealOf({ clock: () => nowMs });
    const sealed = (await seal(SESSION))!;
    nowMs = SESSION.expiresMs - 1;
    assert.ok(await open(sealed));
    nowMs = SESSION.expiresMs;
    assert.equal(await open(sealed), undefined);
  });

  it('reveals nothing without the secret, and is never the same twice', async () => {
    const { seal } = await sealOf();
    const [first, second] = [await seal(SESSION), await seal(SESSION)] as [string, string];
    const parts = first.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
    assert.equal(parts[0], '{"alg":"dir","enc":"A256GCM"}');
    for (const part of parts) assert.doesNotMatch(part, /ada|example/);
    assert.notEqual(first.split('.')[2], second.split('.')[2]);
  });

  it('does not open after the change of a single bit', async () => {
    const { seal, open } = await sealOf();
    const sealed = (await seal(SESSION))!;
    const parts = sealed.split('.');
    for (const [at, part] of parts.entries()) {
      const bytes = Buffer.from(part, 'base64url');
      for (let bit = 0; bit < bytes.length * 8; bit += 13) {
        const changed = Buffer.from(bytes);
        changed[bit >> 3]! ^= 1 << (bit & 7);
        const forged = parts.with(at, changed.toString('base64url')).join('.');
        assert.equal(await open(forged), undefined);
      }
    }
  });

  it('is undefined, without an error, for any other text', async () => {
    const { seal, open } = await sealOf();
    const sealed = (await seal(SESSION))!;
    const [, ...rest] = sealed.split('.');
    const header = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const headers = [
      ...[null, 1, 'x', [], {}, { alg: 'none' }, { alg: 'dir' }, { alg: 'dir', enc: 'A128GCM' }],
      { alg: 'dir', enc: 'A256GCM', zip: 'DEF' },
      { alg: 'dir', enc: 'A256GCM', crit: ['exp'], exp: 1 },
      { alg: 'PBES2-HS256+A128KW', enc: 'A256GCM', p2c: 2 ** 30, p2s: 'AAAA' },
      { alg: 'A256GCMKW', enc: 'A256GCM' },
    ].map((value) => [header(value), ...rest].join('.'));
    const texts = ['', '.', '....', '.....', 'a.b.c.d.e', sealed.slice(1), `${sealed}A`, sealed.repeat(20)];
    for (const text of [...texts, ...headers]) assert.equal(await open(text), undefined, text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.base64String(), { minLength: 3, maxLength: 6 }), async (parts) => {
        assert.equal(await open(parts.join('.')), undefined);
      }),
      { seed: 20_261_115 },
    );
  });
});

describe('a session in a cookie', () => {
  const fits = async (identity: Identity) => {
    const { seal, open } = await sealOf();
    const sealed = await seal({ ...SESSION, identity });
    if (sealed === undefined) return undefined;
    assert.ok(sealed.length <= 3_000, `${sealed.length}`);
    return (await open(sealed))!.identity;
  };

  it('drops a picture whose URL is longer than 1,000 characters', async () => {
    const url = (length: number) => `https://example.com/${'p'.repeat(length - 20)}`;
    assert.deepEqual(await fits({ ...ADA, picture: url(1_000) }), { ...ADA, picture: url(1_000) });
    assert.deepEqual(await fits({ ...ADA, picture: url(1_001) }), { ...ADA, picture: undefined });
  });

  it('cuts a name to 200 characters', async () => {
    assert.deepEqual(await fits({ ...ADA, name: '\u{1F469}'.repeat(300) }), {
      ...ADA,
      name: '\u{1F469}'.repeat(200),
    });
  });

  it('drops the picture, then the name, if it would be too large', async () => {
    const long = { ...ADA, email: `${'e'.repeat(800)}@example.com`, name: '\u{1F469}'.repeat(200) };
    const shown = { ...long, picture: `https://example.com/${'p'.repeat(900)}` };
    assert.deepEqual(await fits(shown), { ...shown, picture: undefined });
    const longer = { ...shown, email: `${'e'.repeat(1_900)}@example.com` };
    assert.deepEqual(await fits(longer), { ...longer, picture: undefined, name: undefined });
  });

  it('is refused if subject, e-mail or domain are too long, because these are never cut', async () => {
    assert.equal(await fits({ ...ADA, subject: 's'.repeat(4_000) }), undefined);
    assert.equal(await fits({ ...ADA, email: `ada@example.com${'.evil.example'.repeat(300)}` }), undefined);
    assert.equal(await fits({ ...ADA, hostedDomain: 'h'.repeat(4_000) }), undefined);
  });

  it('is never too large, whatever the claims', async () => {
    const text = anyText({ maxLength: 1_500 });
    await fc.assert(
      fc.asyncProperty(text, text, text, text, async (subject, email, name, picture) => {
        const kept = await fits({ ...ADA, subject, email, name, picture });
        if (kept) assert.deepEqual([kept.subject, kept.email], [subject, email]);
      }),
      { seed: 20_261_115, numRuns: 200 },
    );
  });
});
