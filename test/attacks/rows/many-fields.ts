// Sends bodies with as many fields as fit: costly to parse, and to refuse field by field.
import type { Attacker } from '../attacker.ts';
import type { Row } from '../row.ts';

const CONNECTIONS = 40;
const FIELDS = 95_000;

/** 0.97 MB: names of two to four characters. */
const BODY = `{${Array.from({ length: FIELDS }, (_, number) => `"${number.toString(36)}":1`).join(',')}}`;

function sendFields(attacker: Attacker, path: string, key: string | undefined): Promise<void> {
  const request = attacker.post(path, BODY, key);
  return attacker.keepOpen(CONNECTIONS, { perSecond: 400, replacedPerSecond: 40 }, () => ({
    first: request,
    onResponse: (socket) => socket.write(request),
  }));
}

export const registrationsOfManyFields: Row = {
  title: '40 connections sending registrations of 95,000 fields',
  keys: 0,
  statuses: [408, 413, 422],
  attack: (attacker) => sendFields(attacker, '/v1/auth/register', undefined),
};

export const eventsOfManyFields: Row = {
  title: '40 connections sending events of 95,000 fields, one key',
  keys: 1,
  statuses: [408, 413, 422],
  attack: (attacker) => sendFields(attacker, '/v1/events', attacker.keys[0]),
};
