// Self-signed certificates for servers of tests. This process trusts them, unless a test says otherwise.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { temporaryFolder } from './service.ts';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** `names` as in subjectAltName, such as `DNS:localhost,IP:127.0.0.1`. */
export function newCertificate(names: string, { trusted = true } = {}): Certificate {
  const folder = temporaryFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')] as const;
  const subject = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${names}`, '-days', '2', '-nodes'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const files = ['-keyout', key, '-out', cert];
  const made = spawnSync('openssl', ['req', '-x509', ...curve, ...files, ...subject], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  if (trusted) setDefaultCACertificates([...getCACertificates('default'), pair.cert]);
  return pair;
}
