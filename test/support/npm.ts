// npm and the programs of installed packages, apart from this clone.
import { execFile } from 'node:child_process';
import { delimiter, dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';

/** PATH with Node 26, as if the machine had it, and with none of this clone's programs. */
export const PATH = [dirname(process.execPath), ...process.env.PATH!.split(delimiter)]
  .filter((folder) => !folder.endsWith(join(sep, 'node_modules', '.bin')))
  .join(delimiter);

/** Runs a program to its end and returns what it prints. Throws if it fails; the error has its output. */
export async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, PATH };
  try {
    return (await promisify(execFile)(program, args, { cwd, env, timeout: 300_000 })).stdout;
  } catch (error) {
    const { message, stdout } = error as Error & { stdout?: string };
    throw new Error(`${message}\n${stdout}`, { cause: error });
  }
}

/** npm with its settings, for example the registry, which may be in the environment. */
export async function npm(args: readonly string[], cwd: string): Promise<void> {
  await run('npm', args, cwd);
}
