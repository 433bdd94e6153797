// Who is an administrator: the allow-list and every way around it, and the fields shown of an administrator.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AllowList,
  describeAdministrator,
  foldCase,
  type Identity,
  isAdministrator,
} from '../../src/domain/administration/admin.ts';

const NOBODY: AllowList = { subjects: [], emails: [], domains: [], hostedDomainRequired: false };
const SOMEONE: Identity = {
  subject: 'subject-1',
  email: 'ada@example.com',
  emailVerified: true,
  hostedDomain: undefined,
  name: 'Ada',
  picture: 'https://example.com/ada.png',
  local: false,
};

const BY_SUBJECT = { subjects: ['subject-1'] };
const BY_EMAIL = { emails: ['ada@example.com'] };
const BY_DOMAIN = { domains: ['example.com'] };
const BY_HOSTED_DOMAIN = { ...BY_DOMAIN, hostedDomainRequired: true };

type Case = [what: string, identity: Partial<Identity>, allowed: Partial<AllowList>];

describe('an administrator', () => {
  const cases: Case[] = [
    ['has a listed subject', {}, BY_SUBJECT],
    ['with a listed subject needs no e-mail', { email: undefined, emailVerified: false }, BY_SUBJECT],
    ['with a listed subject needs no verified e-mail', { emailVerified: false }, BY_SUBJECT],
    ['has a listed, verified e-mail', {}, BY_EMAIL],
    ['may write the e-mail in any case', { email: 'ADA@Example.COM' }, BY_EMAIL],
    ['with a listed e-mail may be of any organisation', { hostedDomain: 'other.example' }, BY_EMAIL],
    ['has a verified e-mail of a listed domain', {}, BY_DOMAIN],
    ['may write the domain in any case', { email: 'Ada@EXAMPLE.com' }, BY_DOMAIN],
    ['is vouched for by the listed domain', { hostedDomain: 'example.com' }, BY_DOMAIN],
    ['may be vouched for in any case', { hostedDomain: 'Example.Com' }, BY_DOMAIN],
    ['is vouched for where that is required', { hostedDomain: 'Example.com' }, BY_HOSTED_DOMAIN],
    ['with a listed e-mail needs nobody to vouch', {}, { ...BY_EMAIL, hostedDomainRequired: true }],
    ['with a listed subject needs nobody to vouch', {}, { ...BY_SUBJECT, hostedDomainRequired: true }],
    [
      'needs to be in only one of the lists',
      { email: 'ada@other.example' },
      { ...BY_SUBJECT, ...BY_EMAIL, ...BY_DOMAIN },
    ],
    ['of the service itself needs no list', { local: true }, {}],
  ];
  for (const [what, identity, allowed] of cases) {
    it(what, () =>
      assert.equal(isAdministrator({ ...SOMEONE, ...identity }, { ...NOBODY, ...allowed }), true),
    );
  }
});

describe('no administrator', () => {
  const cases: Case[] = [
    ['exists while the lists are empty', {}, {}],
    ['has another subject', { subject: 'subject-2' }, BY_SUBJECT],
    ['has the subject in another case', { subject: 'Subject-1' }, BY_SUBJECT],
    ['has the beginning of a subject', { subject: 'subject-' }, BY_SUBJECT],
    ['has an empty subject', { subject: '' }, BY_SUBJECT],
    ['has a listed e-mail as the subject', { subject: 'ada@example.com', email: undefined }, BY_EMAIL],
    ['has a listed subject as the e-mail', { subject: 'x', email: 'subject-1' }, BY_SUBJECT],
    ['has a listed e-mail that is not verified', { emailVerified: false }, BY_EMAIL],
    ['has no e-mail', { email: undefined }, BY_EMAIL],
    ['has an empty e-mail', { email: '' }, { ...BY_EMAIL, ...BY_DOMAIN }],
    ['has another e-mail', { email: 'bob@example.com' }, BY_EMAIL],
    ['has a listed e-mail with something before it', { email: 'xada@example.com' }, BY_EMAIL],
    ['has a listed e-mail with something after it', { email: 'ada@example.com.evil.com' }, BY_EMAIL],
    ['has a listed e-mail with spaces', { email: ' ada@example.com ' }, BY_EMAIL],
    ['has a listed e-mail with a tag', { email: 'ada+x@example.com' }, BY_EMAIL],
    ['has a listed e-mail with a look-alike letter', { email: 'аda@example.com' }, BY_EMAIL],
    [
      'has a listed e-mail with a letter that Unicode folds to ASCII',
      { email: '\u212aim@example.com' },
      { emails: ['kim@example.com'] },
    ],
    ['has an unverified e-mail of a listed domain', { emailVerified: false }, BY_DOMAIN],
    [
      'has an unverified e-mail, even if the listed domain vouches',
      { emailVerified: false, hostedDomain: 'example.com' },
      BY_DOMAIN,
    ],
    ['has an e-mail of another domain', { email: 'ada@other.example' }, BY_DOMAIN],
    ['has a domain that ends like a listed one', { email: 'ada@evil-example.com' }, BY_DOMAIN],
    ['has a domain with a prefix before a listed one', { email: 'ada@evilexample.com' }, BY_DOMAIN],
    ['has a domain that begins like a listed one', { email: 'ada@example.com.evil.com' }, BY_DOMAIN],
    ['has a sub-domain of a listed one', { email: 'ada@sub.example.com' }, BY_DOMAIN],
    ['has the parent of a listed domain', { email: 'ada@com' }, BY_DOMAIN],
    ['has a dot after the domain', { email: 'ada@example.com.' }, BY_DOMAIN],
    ['has a second @ after a listed domain', { email: 'ada@example.com@evil.com' }, BY_DOMAIN],
    ['has a listed domain and no @', { email: 'example.com' }, BY_DOMAIN],
    ['has an @ and no domain', { email: 'example.com@' }, { domains: ['example.com', ''] }],
    ['has a listed domain in brackets', { email: 'ada@evil.com <ada@example.com>' }, BY_DOMAIN],
    ['has a space in the domain', { email: 'ada@ example.com' }, BY_DOMAIN],
    [
      'has a listed domain with letters that Unicode folds to ASCII',
      { email: 'ada@\u212aelvin.example' },
      { domains: ['kelvin.example'] },
    ],
    ['is vouched for by another domain', { hostedDomain: 'evil.com' }, BY_DOMAIN],
    ['is vouched for by an empty domain', { hostedDomain: '' }, BY_DOMAIN],
    ['has nobody who vouches where that is required', {}, BY_HOSTED_DOMAIN],
    ['is vouched for by an empty domain where that is required', { hostedDomain: '' }, BY_HOSTED_DOMAIN],
    ['is vouched for by another domain where that is required', { hostedDomain: 'a.com' }, BY_HOSTED_DOMAIN],
    [
      'has an e-mail of another domain than the listed one that vouches',
      { email: 'ada@evil.com', hostedDomain: 'example.com' },
      BY_DOMAIN,
    ],
    ['is vouched for without an e-mail', { email: undefined, hostedDomain: 'example.com' }, BY_DOMAIN],
    ['has an e-mail that is in the list of domains', {}, { domains: ['ada@example.com'] }],
  ];
  for (const [what, identity, allowed] of cases) {
    it(what, () =>
      assert.equal(isAdministrator({ ...SOMEONE, ...identity }, { ...NOBODY, ...allowed }), false),
    );
  }
});

describe('foldCase', () => {
  it('lowers ASCII letters and changes no others', () => {
    assert.equal(foldCase('AbZ@Example.COM'), 'abz@example.com');
    assert.equal(foldCase('\u212aÄİ'), '\u212aÄİ');
  });
});

describe('describeAdministrator', () => {
  it('shows e-mail, name and picture', () => {
    assert.deepEqual(describeAdministrator(SOMEONE), {
      email: 'ada@example.com',
      name: 'Ada',
      picture: 'https://example.com/ada.png',
    });
  });

  it('falls back to the e-mail for the name and to nothing for the picture', () => {
    const shown = describeAdministrator({ ...SOMEONE, name: undefined, picture: undefined });
    assert.deepEqual(shown, { email: 'ada@example.com', name: 'ada@example.com', picture: '' });
  });

  it('has three strings even if the token has only a subject', () => {
    const shown = describeAdministrator({
      ...SOMEONE,
      email: undefined,
      name: undefined,
      picture: undefined,
    });
    assert.deepEqual(shown, { email: '', name: 'subject-1', picture: '' });
  });
});
