// Source files as the architecture tests see them: the imports of each, found in its text. No compiler is needed, because
// the formatter leaves only one way to write an import.
import { globSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface Source {
  /** Relative to the folder, with slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Import {
  /** For our own files a path relative to the folder, otherwise the package name. */
  readonly target: string;
  /** `resolve`: import.meta.resolve; `url`: new URL(…, import.meta.url). Only `type` disappears at run time. */
  readonly kind: 'value' | 'type' | 'resolve' | 'url';
}

/** Without compressed data. */
export function readSources(folder: string): Source[] {
  return globSync('**/*', { cwd: folder })
    .filter((path) => !path.endsWith('.zst'))
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort()
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(folder, path), 'utf8') }));
}

const PATTERNS: readonly [kind: Import['kind'], pattern: RegExp][] = [
  ['type', /^(?:import|export)\s+type\s[^'";]*?\bfrom\s+'([^']+)'/gm],
  ['value', /^(?:import|export)\s+(?!type\s)(?:[^'";]*?\bfrom\s+)?'([^']+)'/gm],
  ['value', /\bimport\(\s*'([^']+)'/g],
  ['resolve', /\bimport\.meta\.resolve\(\s*'([^']+)'/g],
  ['url', /\bnew URL\(\s*'([^']+)',\s*import\.meta\.url\b/g],
];

/** The text without comments that stand on lines of their own. */
export function codeOf({ text }: Source): string {
  return text.replaceAll(/^\s*(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/)$/gm, '');
}

/** A module whose name is computed cannot be checked: its target is `?`. */
export function importsOf(source: Source): Import[] {
  const { path } = source;
  const text = codeOf(source);
  const named = PATTERNS.flatMap(([kind, pattern]) =>
    [...text.matchAll(pattern)].map((match): Import => ({ target: resolve(path, match[1]!), kind })),
  );
  const computed = [...text.matchAll(/\b(?:import|require|import\.meta\.resolve)\((?!\s*')/g)];
  return [...named, ...computed.map((): Import => ({ target: '?', kind: 'value' }))];
}

function resolve(from: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier;
}

/** Chains of files that import each other, types included, each reported once as `a → b → a`. */
export function importCycles(sources: readonly Source[]): string[] {
  const edges = new Map(
    sources.map((source) => [source.path, importsOf(source).map(({ target }) => target)]),
  );
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const target of edges.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return [...new Set(cycles)];
}
