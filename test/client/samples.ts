// What the tests of the client share.
import assert from 'node:assert/strict';
import { type EventCreate, LocalEventsError } from '../../client/src/local-events.ts';

export function newEvent(fields: Partial<EventCreate> = {}): EventCreate {
  return {
    title: 'Lantern workshop',
    event_type: 'workshop',
    start_at: '2031-05-01T18:00:00',
    timezone: 'Europe/Berlin',
    location_name: 'Kulturhaus Mitte',
    lat: 52.5264,
    lng: 13.3955,
    ...fields,
  };
}

/** The error of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<LocalEventsError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof LocalEventsError, String(error));
    return error;
  }
  throw new Error('The call succeeded.');
}
