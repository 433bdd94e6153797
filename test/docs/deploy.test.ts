// The files for containers, checked without running one: what they copy exists, and what they set is read.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const documented = new Set(
  [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)`/gm)].map((match) => match[1]!),
);

describe('Dockerfile', () => {
  const text = read('Dockerfile');

  it('copies only files that exist and are not ignored', () => {
    const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) => match[1]!.split(' '));
    const kept = [...read('.dockerignore').matchAll(/^!(\S+)$/gm)].map((match) => match[1]!);
    assert.ok(copied.length > 4);
    for (const path of copied) assert.ok(existsSync(join(ROOT, path)) && kept.includes(path), path);
  });

  it('builds the console instead of copying a local build', () => {
    assert.match(text, /^RUN node scripts\/build-web\.ts$/m);
    assert.match(text, /^COPY --from=console \/app\/web\/dist \.\/web\/dist$/m);
    assert.match(read('.dockerignore'), /^!web\nweb\/dist$/m);
  });

  it('has the Node that the service needs, and does not run as root', () => {
    const needed = /NEEDED = (\d+)/.exec(read('bin/local-events.mjs'))![1];
    const images = [...text.matchAll(/^FROM node:(\d+)/gm)].map((match) => match[1]);
    assert.ok(images.length > 1);
    assert.deepEqual(new Set(images), new Set([needed]));
    assert.match(text, /^USER node$/m);
  });

  it('sets only variables that the service reads', () => {
    const [, line = ''] = /^ENV (.+)$/m.exec(text)!;
    const names = line.split(' ').map((pair) => pair.split('=')[0]!);
    assert.deepEqual(
      names.filter((name) => !documented.has(name)),
      ['NODE_ENV'],
    );
  });
});

describe('compose.yaml', () => {
  const text = read('compose.yaml');

  it('sets only variables that the service reads', () => {
    const [, block = ''] = /^ {2}environment:\n((?: {4}.+\n)+)/m.exec(text)!;
    const names = [...block.matchAll(/^ {4}([A-Z_]+):/gm)].map((match) => match[1]!);
    assert.ok(names.includes('DATABASE_URL'));
    assert.deepEqual(
      names.filter((name) => !documented.has(name)),
      [],
    );
  });

  it('has a node for every server of the load balancer', () => {
    const servers = [...read('deploy/nginx.conf').matchAll(/^\s+server (\w+):8080/gm)].map(
      (match) => match[1]!,
    );
    const nodes = [...text.matchAll(/^ {2}(\w+): \*node$/gm)].map((match) => match[1]!);
    assert.deepEqual(servers, nodes);
    assert.ok(nodes.length >= 2);
  });
});
