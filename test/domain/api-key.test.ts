// API keys: their format, what the checksum catches, how uniform the randomness is, and what is stored of a key.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { fingerprint, hashSecret, isApiKey, newApiKey } from '../../src/domain/api-key.ts';
import type { Random } from '../../src/domain/clock-and-random.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** An endless stream of pseudo-random bytes, uniform and the same in every run. */
function seededRandom(seed: string): Random {
  let count = 0;
  let rest: number[] = [];
  return (bytes) => {
    while (rest.length < bytes.length) {
      rest = [...rest, ...createHash('sha512').update(`${seed}${count++}`).digest()];
    }
    bytes.set(rest.splice(0, bytes.length));
    return bytes;
  };
}

function sample(count: number): string[] {
  const random = seededRandom('sample');
  return Array.from({ length: count }, () => newApiKey(random));
}

describe('newApiKey', () => {
  it('is lev_, 32 random base62 characters and 6 of checksum', () => {
    for (const key of sample(500)) {
      assert.match(key, /^lev_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$/);
      assert.equal(isApiKey(key), true);
    }
  });

  it('differs every time', () => {
    assert.equal(new Set(sample(2_000)).size, 2_000);
  });

  it('uses every character as often as any other', () => {
    const counts = new Map<string, number>();
    const keys = sample(5_000);
    for (const letter of keys.map((key) => key.slice(4, 36)).join('')) {
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    assert.equal([...counts.keys()].sort().join(''), BASE62);
    const expected = (keys.length * 32) / 62;
    const chiSquared = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    // 61 degrees of freedom: a random source exceeds 126 once in a million; bytes taken modulo 62 give about 2,000.
    assert.ok(chiSquared < 126, `chi squared is ${chiSquared}`);
  });

  it('discards bytes that would favour some characters, however many there are', () => {
    let calls = 0;
    const mostlyTooHigh: Random = (bytes) =>
      bytes
        .fill(255)
        .fill(248 + (calls % 8), 1)
        .fill(calls++ % 248, 0, 1);
    const key = newApiKey(mostlyTooHigh);
    assert.equal(key.slice(4, 36), BASE62.slice(0, 32));
    assert.equal(isApiKey(key), true);
  });
});

describe('isApiKey', () => {
  it('accepts the keys of earlier versions', () => {
    assert.equal(isApiKey('lev_07ELSZgnu18FMTahov29GNUbipw3AHOV0o0dhb'), true);
  });

  it('catches every change of a single character', () => {
    for (const key of sample(15)) {
      for (let at = 0; at < key.length; at++) {
        for (const letter of `${BASE62}_-. \n\0é`) {
          if (letter === key[at]) continue;
          const changed = key.slice(0, at) + letter + key.slice(at + 1);
          assert.equal(isApiKey(changed), false, `${key} became ${changed}`);
        }
      }
    }
  });

  it('catches every swap of neighbours', () => {
    for (const key of sample(300)) {
      for (let at = 0; at + 1 < key.length; at++) {
        if (key[at] === key[at + 1]) continue;
        const swapped = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
        assert.equal(isApiKey(swapped), false, `${key} became ${swapped}`);
      }
    }
  });

  it('catches every missing, doubled or added character, and every change of case', () => {
    for (const key of sample(50)) {
      for (let at = 0; at <= key.length; at++) {
        if (at < key.length) assert.equal(isApiKey(key.slice(0, at) + key.slice(at + 1)), false);
        assert.equal(isApiKey(`${key.slice(0, at)}0${key.slice(at)}`), false);
      }
      for (const other of [
        key.toLowerCase(),
        key.toUpperCase(),
        ` ${key}`,
        `${key} `,
        `${key}\n`,
        key + key,
      ]) {
        assert.equal(isApiKey(other), false, JSON.stringify(other));
      }
    }
  });

  it('refuses text that is not a key', () => {
    for (const text of [
      '',
      'lev_',
      'secret',
      `lev_${'0'.repeat(38)}`,
      'lev_'.repeat(10),
      'x'.repeat(100_000),
    ]) {
      assert.equal(isApiKey(text), false, text.slice(0, 50));
    }
  });
});

describe('fingerprint', () => {
  it('keeps the SHA-256 and the first 8 characters, nothing else', () => {
    for (const key of sample(100)) {
      const kept = fingerprint(key);
      const sha256 = createHash('sha256').update(key, 'utf8').digest();
      assert.deepEqual(Buffer.from(kept.hash, 'base64url'), sha256);
      assert.deepEqual(kept, { hash: sha256.toString('base64url'), prefix: key.slice(0, 8) });
      assert.equal(hashSecret(key), kept.hash);
      assert.ok(!JSON.stringify(kept).includes(key.slice(4, 12)));
    }
  });
});
