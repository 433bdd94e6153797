// Connections with TLS, as sslmode in DATABASE_URL requests: they are encrypted, and handle failures like any other.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readConfig } from '../../src/config.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { Side } from './side.ts';

describe('sslmode', { timeout: 30_000 }, () => {
  let cluster: Cluster;
  let side: Side;
  before(async () => {
    cluster = await startCluster();
    side = new Side(cluster.url());
  });
  after(async () => {
    await side.close();
    await cluster.remove();
  });

  const open = (mode: string) =>
    PostgresStore.open(readConfig({ DATABASE_URL: `${cluster.url()}?sslmode=${mode}` }).database!);

  /** Whether connections are encrypted: one entry if all are alike. */
  async function encrypted(): Promise<boolean[]> {
    const rows = await side.sql`
      SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'local-events'`;
    assert.ok(rows.length >= 2);
    return [...new Set(rows.map(({ ssl }) => ssl))];
  }

  /** Gives the server a self-signed certificate. */
  async function turnOn(): Promise<void> {
    const files = { key: join(cluster.data, 'server.key'), certificate: join(cluster.data, 'server.crt') };
    const made = ['-new', '-x509', '-nodes', '-subj', '/CN=localhost', '-keyout', files.key];
    execFileSync('openssl', ['req', ...made, '-out', files.certificate], { stdio: 'pipe' });
    const { uid, gid } = statSync(cluster.data);
    for (const file of Object.values(files)) chownSync(file, uid, gid);
    await side.sql`ALTER SYSTEM SET ssl = on`;
    await side.sql`SELECT pg_reload_conf()`;
    while ((await side.sql`SHOW ssl`)[0]!.ssl !== 'on') await sleep(10);
  }

  it('require is refused by a server without TLS, prefer is not', async () => {
    await assert.rejects(open('require'), {
      message: /the server offers no TLS\. Check sslmode in DATABASE_URL/,
    });
    const store = await open('prefer');
    await store.listAgents();
    assert.deepEqual(await encrypted(), [false]);
    await store.close();
  });

  it('require encrypts, and survives a cut and a server that hangs', async () => {
    await turnOn();
    const store = await open('require');
    await store.listAgents();
    assert.deepEqual(await encrypted(), [true]);
    await side.terminate(await side.connections());
    assert.deepEqual(await store.listAgents(), []);

    cluster.pause();
    const begun = performance.now();
    await assert.rejects(store.listAgents(), { code: 'UNAVAILABLE' });
    assert.ok(performance.now() - begun < 2_000);
    await sleep(1_500); // one more failed search for a primary
    cluster.resume();
    while (
      await store.check().then(
        () => false,
        () => true,
      )
    )
      await sleep(20);
    assert.deepEqual(await store.listAgents(), []);
    assert.deepEqual(await encrypted(), [true]);
    await store.close();
  });

  it('a connection that is cut before it is secure is opened again', async () => {
    const front = await startFront(cluster.port);
    const store = await PostgresStore.open(
      readConfig({ DATABASE_URL: `postgres://postgres@127.0.0.1:${front.port}/postgres?sslmode=require` })
        .database!,
    );
    // Either the request for TLS or the handshake after the server's yes gets no answer.
    for (const answeredMessages of [0, 1, 0, 1]) {
      front.cut({ connections: 3, answeredMessages });
      await side.terminate(await side.connections());
      assert.deepEqual(await store.listAgents(), []);
    }
    assert.equal(front.leftToCut(), 0);
    await store.close();
    await front.close();
  });

  it('verify-ca accepts a certificate for another name if its authority is known; verify-full does not', async (t) => {
    // The server's address is 127.0.0.1. Its certificate, for localhost only, is its own authority.
    const usual = getCACertificates('default');
    t.after(() => setDefaultCACertificates(usual));
    setDefaultCACertificates([readFileSync(join(cluster.data, 'server.crt'), 'utf8')]); // as NODE_EXTRA_CA_CERTS does
    await (await open('verify-ca')).close();
    await assert.rejects(open('verify-full'), {
      message: /does not match certificate's altnames.*Check sslmode/,
    });
  });

  it('verify-ca and verify-full refuse an unknown authority', async () => {
    const message =
      /self-signed certificate.*Check sslmode in DATABASE_URL, and the certificate of the server\.$/;
    for (const mode of ['verify-ca', 'verify-full']) await assert.rejects(open(mode), { message });
  });
});

/** A way to the server on this port that can cut new connections. */
async function startFront(port: number) {
  let toCut = 0;
  let answered = 0;
  const server = createServer((client) => {
    const isCut = toCut > 0;
    if (isCut) toCut--;
    let left = isCut ? answered : Number.POSITIVE_INFINITY;
    const database = connect(port, '127.0.0.1');
    client.on('data', (message) => {
      if (left-- > 0) database.write(message);
      else client.destroy();
    });
    database.pipe(client);
    client.on('error', () => {}).on('close', () => database.destroy());
    database.on('error', () => {}).on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut: ({ connections, answeredMessages }: { connections: number; answeredMessages: number }) => {
      toCut = connections;
      answered = answeredMessages;
    },
    leftToCut: () => toCut,
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}
