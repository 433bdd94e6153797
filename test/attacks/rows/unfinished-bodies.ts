// Sends bodies of 1 MiB without their last byte. Every second one is chunked, so that no header tells its length.
import type { Attacker } from '../attacker.ts';
import type { Row } from '../row.ts';

const CONNECTIONS = 3_000;
const PACE = { perSecond: 1_500, replacedPerSecond: 0 };
const LENGTH = 2 ** 20;

const BODY = Buffer.alloc(LENGTH - 1, ' ');

function sendUnfinished(attacker: Attacker, path: string, key: string | undefined): Promise<void> {
  const type = 'Content-Type: application/json\r\n';
  const heads = [
    attacker.request('POST', path, key, `${type}Content-Length: ${LENGTH}\r\n`),
    `${attacker.request('POST', path, key, `${type}Transfer-Encoding: chunked\r\n`)}${LENGTH.toString(16)}\r\n`,
  ];
  return attacker.keepOpen(CONNECTIONS, PACE, (number) => ({ first: heads[number % 2]!, second: BODY }));
}

export const unfinishedBodies: Row = {
  title: '3,000 connections with an unfinished registration of 1 MiB',
  keys: 0,
  statuses: [400, 408, 413],
  attack: (attacker) => sendUnfinished(attacker, '/v1/auth/register', undefined),
};

export const unfinishedEvents: Row = {
  title: '3,000 connections with an unfinished event of 1 MiB, one key',
  keys: 1,
  statuses: [400, 408, 413],
  attack: (attacker) => sendUnfinished(attacker, '/v1/events', attacker.keys[0]),
};
