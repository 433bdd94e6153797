// The `check` command: what is wrong with an installation, and what a start would migrate. Changes nothing, so a service may run.
import { type Config, findMisspelt, readConfig } from '../config.ts';
import { SettingsError } from '../domain/errors.ts';
import { CHECKED, type Finding } from '../domain/finding.ts';
import { inspectData } from '../engines.ts';
import { systemClock } from '../system.ts';
import { findClockProblem } from '../usecases/clock-trust.ts';
import { type Env, type Io, printable, UsageError } from './command.ts';
import { findSettingProblems } from './setting-problems.ts';

/** Resolves with 2 if there is a problem. */
export async function check(args: string[], env: Env, io: Io): Promise<number> {
  if (args.length > 0) throw new UsageError('check takes no options.');
  const findings = await findAll(() => readConfig(env), findMisspelt(env));
  for (const about of CHECKED) {
    for (const { kind, text } of findings.filter((finding) => finding.about === about)) {
      const [first, ...more] = text.split('\n').map(printable);
      io.stdout.write(`${kind.padEnd(7)}  ${about.padEnd(8)}  ${first}\n`);
      for (const line of more) io.stdout.write(`${' '.repeat(19)}${line}\n`);
    }
  }
  const problems = findings.filter(({ kind }) => kind === 'problem').length;
  io.stdout.write(
    problems === 0 ? 'No problems.\n' : `${problems} ${problems === 1 ? 'problem' : 'problems'}.\n`,
  );
  return problems === 0 ? 0 : 2;
}

async function findAll(read: () => Config, misspelt: readonly string[]): Promise<Finding[]> {
  const problem = (text: string): Finding => ({ about: 'settings', kind: 'problem', text });
  const names = misspelt.map(problem);
  let config: Config;
  try {
    config = read();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const text = 'Disk, clock, database and schema are not checked before the settings are valid.';
    return [...names, ...error.message.split('\n').map(problem), { about: 'settings', kind: 'note', text }];
  }
  const odd = [...names, ...findSettingProblems(config).map(problem)];
  const settings: Finding[] =
    odd.length > 0 ? odd : [{ about: 'settings', kind: 'ok', text: 'All are valid.' }];
  const found = await inspectData(config, (source) =>
    findClockProblem(source, systemClock(), config.clockConfirmed),
  );
  return [...settings, ...found];
}
