// Settings with valid values that nobody can want, such as an address that others cannot use.
import type { Config } from '../config.ts';

export function findSettingProblems(config: Config): string[] {
  const problems: string[] = [];
  if (['0.0.0.0', '::'].includes(config.host) && config.publicUrl === undefined) {
    problems.push(
      `HOST is ${config.host}, and PUBLIC_URL is not set, so documents and links name an address that others cannot use. ` +
        'Set PUBLIC_URL to the URL by which others reach the service.',
    );
  }
  return [...problems, ...findProviderProblems(config)];
}

/** What is odd about the identity provider and the administrators. */
export function findProviderProblems({ oidc, policy }: Config): string[] {
  if (!oidc) return [];
  const problems: string[] = [];
  const { subjects, emails, domains } = policy.administrators;
  if ([subjects, emails, domains].every((list) => list.length === 0))
    problems.push('Nobody is an administrator: set ADMIN_EMAILS, ADMIN_DOMAINS or ADMIN_SUBJECTS.');
  if (!/^https:|^http:\/\/(?:localhost|127\.|\[::1\])/i.test(oidc.issuer))
    problems.push(
      'OIDC_ISSUER does not use https, so anyone on the network path can forge tokens. Use https.',
    );
  return problems;
}
