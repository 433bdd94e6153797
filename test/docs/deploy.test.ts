// The files for containers, checked without running one: what they copy exists, and what they set is read.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ERRORS, type ErrorCode } from '../../src/domain/errors.ts';
import { MAX_BODY_BYTES, MAX_EVENT_BODY_BYTES } from '../../src/http/request/body.ts';
import { temporaryFolder } from '../support/service.ts';

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
    const [, user] = /^USER (\d+):\d+$/m.exec(text)!; // Kubernetes cannot check a name
    assert.notEqual(Number(user), 0);
    assert.ok(text.includes(`chown ${user}:${user} /data`));
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

it('pins every image by its digest, with the tag that it had', () => {
  const images = ['Dockerfile', 'compose.yaml'].flatMap((path) => [
    ...read(path).matchAll(/^(?:FROM| +image:) (\S+)/gm),
  ]);
  assert.equal(images.length, 5);
  for (const [, image = ''] of images) assert.match(image, /^[a-z/]+:\d[\w.-]+@sha256:[0-9a-f]{64}$/);
});

describe('compose.yaml', () => {
  const text = read('compose.yaml');

  it('gives the superuser and the service passwords of their own, and the comment makes both', () => {
    const [, superuser] = /^ +POSTGRES_PASSWORD: \$\{(\w+)\b/m.exec(text)!;
    const [, service] = /^ +EVENTS_PASSWORD: \$\{(\w+)\b/m.exec(text)!;
    const [, node] = /^ +DATABASE_URL: postgres:\/\/events:\$\{(\w+)\b/m.exec(text)!;
    assert.equal(node, service);
    assert.notEqual(superuser, service);
    const [, command = ''] = /^# +(\(umask .*\))/m.exec(text)!;
    assert.ok(read('docs/operations.md').includes(`\n${command}`), 'docs/operations.md has the same command');
    const folder = temporaryFolder();
    execFileSync('sh', ['-c', command], { cwd: folder });
    const set = readFileSync(join(folder, '.env'), 'utf8').trim().split('\n');
    const [one, two] = set.map((line) => /^(\w+)=([0-9a-f]{32})$/.exec(line)!);
    assert.deepEqual([one![1], two![1]], [superuser, service]);
    assert.notEqual(one![2], two![2]);
    assert.equal(statSync(join(folder, '.env')).mode & 0o777, 0o600);
  });

  it('sets only variables that the service reads', () => {
    const [, block = ''] = /^ {2}environment:\n((?: {4}.+\n)+)/m.exec(text)!;
    const names = [...block.matchAll(/^ {4}([A-Z_]+):/gm)].map((match) => match[1]!);
    assert.ok(names.includes('DATABASE_URL'));
    assert.deepEqual(
      names.filter((name) => !documented.has(name)),
      [],
    );
  });

  it('limits the log of every container, and makes the root of the nodes read-only', () => {
    assert.match(
      text,
      /^x-log: &log\n {2}driver: json-file\n {2}options: \{ max-size: \d+m, max-file: "\d+" \}$/m,
    );
    const images = text.match(/^ +(?:image|build): .+\n +restart: .+$/gm)!;
    const limited = text.match(/^ +(?:image|build): .+\n +restart: .+\n +logging: \*log$/gm)!;
    assert.equal(images.length, 3);
    assert.equal(limited.length, 3);
    assert.match(text, /^x-node: &node\n(?: {2}.+\n)* {2}read_only: true$/m);
  });

  it('has a node for every server of the load balancer', () => {
    const nodes = [...text.matchAll(/^ {2}(\w+): \*node$/gm)].map((match) => match[1]!);
    assert.ok(nodes.length >= 2);
    const groups = [...read('deploy/nginx.conf').matchAll(/^ {2}upstream \w+ \{([^}]+)\}/gm)];
    assert.equal(groups.length, 2);
    for (const [, group] of groups) {
      const servers = [...group!.matchAll(/^\s+server (\w+):8080/gm)].map((match) => match[1]!);
      assert.deepEqual(servers, nodes);
    }
  });
});

describe('deploy/nginx.conf', () => {
  const text = read('deploy/nginx.conf');
  /** Settings by location; `server` has those of the server and of everything around it. */
  const sections = new Map<string, string[]>([['server', []]]);
  const HEALTH = '^/(health|live|ready)$';
  let at = 'server';
  for (const line of text.split('\n').map((each) => each.replace(/#.*/, '').trim())) {
    at = /^location (?:[=~] )?(\S+) \{$/.exec(line)?.[1] ?? at;
    sections.set(at, [...(sections.get(at) ?? []), line]);
  }
  const proxied = [...sections].filter(([, lines]) => lines.includes('proxy_pass http://nodes;'));

  it('limits the requests of a client, in progress and per second, everywhere but at /health, /live and /ready', () => {
    assert.deepEqual(
      proxied.map(([name]) => name),
      ['/', '/v1/events', '@once', '/v1/auth/', HEALTH],
      'other locations get requests that one of these has counted',
    );
    for (const [name, lines] of proxied) {
      const limits = lines.filter((line) => line.startsWith('limit_'));
      const expected = [
        'limit_conn requests_in_progress 1000;',
        'limit_req zone=request_rate burst=2000 nodelay;',
      ];
      assert.deepEqual(limits, name === HEALTH ? [] : expected, name);
    }
    for (const zone of ['limit_conn_zone', 'limit_req_zone']) {
      assert.match(text, new RegExp(`^\\s*${zone} \\$client_network zone=`, 'm'));
    }
  });

  it('limits bodies as the nodes do', () => {
    const bytesOf = (name: string) => {
      const [, number, unit] = /client_max_body_size (\d+)([km]);/.exec(sections.get(name)!.join('\n'))!;
      return Number(number) * (unit === 'm' ? 1_048_576 : 1_024);
    };
    assert.equal(bytesOf('server'), MAX_EVENT_BODY_BYTES);
    assert.equal(bytesOf('/v1/auth/'), MAX_BODY_BYTES);
  });

  it('does not wait for slow clients', () => {
    for (const name of [
      'client_header_timeout',
      'client_body_timeout',
      'send_timeout',
      'keepalive_timeout',
    ]) {
      const seconds = Number(new RegExp(`^\\s*${name} (\\d+)s;$`, 'm').exec(text)?.[1]);
      assert.ok(seconds >= 1 && seconds <= 10, `${name} ${seconds}`);
    }
  });

  it('replaces X-Forwarded-For, which the nodes trust', () => {
    assert.match(text, /^\s*proxy_set_header X-Forwarded-For \$remote_addr;/m);
    assert.match(read('compose.yaml'), /^\s*TRUST_PROXY: uniquelocal\b/m);
  });

  it('reports errors in the format of the service', () => {
    const returned = [...text.matchAll(/^\s*return (\d+) '(.+)';$/gm)];
    assert.deepEqual(
      returned.map(([, status, body]) => {
        const { code, message } = JSON.parse(body!).error as { code: ErrorCode; message: string };
        assert.match(message, /\.$/);
        assert.equal(ERRORS[code].status, Number(status));
        return code;
      }),
      ['PAYLOAD_TOO_LARGE', 'RATE_LIMITED', 'UNAVAILABLE'],
    );
  });
});
