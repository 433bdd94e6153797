// Settings with valid values that nobody can want: a misspelt name, an address that others cannot use.
import { type Config, settingNames } from '../config.ts';
import type { Env } from './command.ts';

/** How much a misspelt name may differ; short names less. */
const MAX_DIFFERENCES = 3;
const LETTERS_PER_DIFFERENCE = 4;

/** Variables with a value that are no settings, but nearly. Those that differ more are taken for other programs'. */
export function findMisspelt(env: Env): string[] {
  const settings = settingNames();
  const names = Object.keys(env).filter((name) => env[name]?.trim() && !settings.has(name));
  return names.flatMap((name) => {
    const near = [...settings]
      .map((known) => ({ known, distance: editDistance(name.toUpperCase(), known) }))
      .filter(
        ({ known, distance }) => distance <= Math.min(MAX_DIFFERENCES, known.length / LETTERS_PER_DIFFERENCE),
      )
      .sort((a, b) => a.distance - b.distance);
    return near
      .slice(0, 1)
      .map(({ known }) => `${name} is not a setting, so it has no effect. Did you mean ${known}?`);
  });
}

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

/** Number of characters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
export function editDistance(one: string, other: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      row[j] = Math.min(row[j - 1]! + 1, last![j]! + 1, last![j - 1]! + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwapped) row[j] = Math.min(row[j]!, before![j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last!.at(-1)!;
}
