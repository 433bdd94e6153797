// A name server for tests. It answers queries for A and AAAA with the records that a test sets, and stays silent if there is
// no entry for the name.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface DnsServer {
  /** As setServers of node:dns takes it. */
  readonly address: string;
  /** Addresses of each name; none: the name does not exist. */
  readonly records: Record<string, readonly string[]>;
  close(): void;
}

const TYPES = { A: 1, AAAA: 28 };

export async function startDnsServer(): Promise<DnsServer> {
  const records: DnsServer['records'] = {};
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query);
    const found = records[name];
    if (found === undefined) return;
    const answers = found.filter((ip) => (ip.includes(':') ? TYPES.AAAA : TYPES.A) === type).map(toBytes);
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(found.length === 0 ? 0x8183 : 0x8180, 2); // NXDOMAIN, or no error
    head.writeUInt16BE(answers.length, 6);
    head.writeUInt32BE(0, 8);
    const rows = answers.flatMap((bytes) => {
      const row = Buffer.alloc(12);
      row.writeUInt16BE(0xc00c, 0); // the name of the question
      row.writeUInt16BE(type, 2);
      row.writeUInt16BE(1, 4);
      row.writeUInt16BE(bytes.length, 10);
      return [row, bytes];
    });
    socket.send(Buffer.concat([head, query.subarray(12, end), ...rows]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, records, close: () => void socket.close() };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  while (query[at] !== 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    at += 1 + query[at]!;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function toBytes(ip: string): Buffer {
  if (!ip.includes(':')) return Buffer.from(ip.split('.').map(Number));
  const [left = '', right = ''] = ip.split('::');
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const missing = 8 - groups(left).length - groups(right).length;
  const all = [...groups(left), ...Array<number>(missing).fill(0), ...groups(right)];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]));
}
