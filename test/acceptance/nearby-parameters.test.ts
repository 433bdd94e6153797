// GET /v1/events/nearby: which parameter values it takes, at and just beyond each limit.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent } from './client.ts';
import type { Query } from './json-client.ts';
import { assertInvalid } from './samples.ts';

const PATH = '/v1/events/nearby';

describe('the parameters of GET /v1/events/nearby', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  describe('422', () => {
    const cases: [name: string, query: Query, issues: string[]][] = [
      ['no lat and no lng', {}, ['query.lat: missing', 'query.lng: missing']],
      ['no lat', { lng: 0 }, ['query.lat: missing']],
      ['no lng', { lat: 0 }, ['query.lng: missing']],
      ['a lat above 90', { lat: '90.00000000000001', lng: 0 }, ['query.lat: less_than_equal']],
      ['a lat below -90', { lat: '-90.00000000000001', lng: 0 }, ['query.lat: greater_than_equal']],
      ['a lng above 180', { lat: 0, lng: '180.00000000000003' }, ['query.lng: less_than_equal']],
      ['a lng below -180', { lat: 0, lng: '-180.00000000000003' }, ['query.lng: greater_than_equal']],
      ['a radius below 0.1', { lat: 0, lng: 0, radius: 0.09999 }, ['query.radius: greater_than_equal']],
      ['a radius of 0', { lat: 0, lng: 0, radius: 0 }, ['query.radius: greater_than_equal']],
      ['a negative radius', { lat: 0, lng: 0, radius: -1 }, ['query.radius: greater_than_equal']],
      [
        'a radius above 100',
        { lat: 0, lng: 0, radius: '100.00000000000001' },
        ['query.radius: less_than_equal'],
      ],
      ['a radius above every number', { lat: 0, lng: 0, radius: '1e999' }, ['query.radius: less_than_equal']],
      ['a limit of 0', { lat: 0, lng: 0, limit: 0 }, ['query.limit: greater_than_equal']],
      ['a negative limit', { lat: 0, lng: 0, limit: -1 }, ['query.limit: greater_than_equal']],
      ['a limit of 101', { lat: 0, lng: 0, limit: 101 }, ['query.limit: less_than_equal']],
      ['a limit with a fraction', { lat: 0, lng: 0, limit: 5.5 }, ['query.limit: int_parsing']],
      ['a limit written as 5.0', { lat: 0, lng: 0, limit: '5.0' }, ['query.limit: int_parsing']],
      ['a limit with an exponent', { lat: 0, lng: 0, limit: '1e1' }, ['query.limit: int_parsing']],
      [
        'an event_type that does not exist',
        { lat: 0, lng: 0, event_type: 'party' },
        ['query.event_type.0: enum'],
      ],
      [
        'the second of two event_types',
        { lat: 0, lng: 0, event_type: ['talk', 'Talk'] },
        ['query.event_type.1: enum'],
      ],
      ['an empty event_type', { lat: 0, lng: 0, event_type: '' }, ['query.event_type.0: enum']],
      ['types in one value', { lat: 0, lng: 0, event_type: 'talk,tour' }, ['query.event_type.0: enum']],
      [
        'an audience that does not exist',
        { lat: 0, lng: 0, audience: ['kids', 'x'] },
        ['query.audience.1: enum'],
      ],
      [
        'several failing parameters at once, naming each',
        { lat: 91, radius: 'x', limit: 0, audience: 'x', starts_after: 'x', starts_before: 'y', cursor: 'z' },
        [
          'query.lat: less_than_equal',
          'query.lng: missing',
          'query.radius: float_parsing',
          'query.limit: greater_than_equal',
          'query.audience.0: enum',
          'query.starts_after: datetime_parsing',
          'query.starts_before: datetime_parsing',
          'query.cursor: value_error',
        ],
      ],
    ];
    for (const [name, query, issues] of cases) {
      it(`refuses ${name}`, async () => {
        assertInvalid(await agent.get(PATH, query), issues);
      });
    }

    const singles: Query = {
      lat: 0,
      lng: 0,
      radius: 1,
      starts_after: '2031-05-01T18:00:00Z',
      starts_before: '2031-05-01T18:00:00Z',
      q: 'a',
      limit: 1,
      cursor: 'a',
    };
    for (const [name, value] of Object.entries(singles)) {
      it(`refuses ${name} sent twice, even with the same value`, async () => {
        const query = { lat: 0, lng: 0, [name]: [value as string, value as string] };
        assertInvalid(await agent.get(PATH, query), [`query.${name}`]);
      });
    }

    const undecodable: [name: string, query: string][] = [
      ['bytes that are not UTF-8', 'lat=0&lng=0&event_type=%FF'],
      ['bytes that are not UTF-8 in an unknown parameter', 'lat=0&lng=0&x=%C3%28'],
      ['an invalid escape', 'lat=0&lng=0&event_type=%zz'],
      ['half an escape', 'lat=0&lng=0&event_type=talk%2'],
      ['NUL in a value', 'lat=0&lng=0&event_type=talk%00'],
    ];
    for (const [name, query] of undecodable) {
      it(`refuses ${name}`, async () => {
        const answer = await agent.send('GET', `${PATH}?${query}`);
        assert.equal(answer.status, 422, answer.text);
        assert.equal(answer.body.detail.length, 1);
        assert.equal(answer.body.detail[0].loc[0], 'query');
      });
    }
  });

  describe('numbers in a query', () => {
    const accepted: [name: string, text: string][] = [
      ['a whole number', '5'],
      ['a fraction', '5.25'],
      ['a negative number', '-5.5'],
      ['negative zero', '-0'],
      ['an exponent', '5e0'],
      ['a capital exponent', '5E0'],
      ['a negative exponent', '50e-1'],
      ['an exponent with a plus', '5e%2B0'],
      ['many digits', '5.000000000000000000000001'],
    ];
    for (const [name, text] of accepted) {
      it(`takes ${name} for lat and lng`, async () => {
        const answer = await agent.send('GET', `${PATH}?lat=${text}&lng=${text}&limit=1`);
        assert.equal(answer.status, 200, answer.text);
      });
    }

    it('takes an exponent for radius', async () => {
      assert.equal((await agent.send('GET', `${PATH}?lat=0&lng=0&radius=1E-1&limit=1`)).status, 200);
    });

    const refused: [name: string, text: string][] = [
      ['nothing', ''],
      ['hex', '0x10'],
      ['a plus', '%2B5'],
      ['a raw plus', '+5'],
      ['a space before it', '%205'],
      ['a space after it', '5%20'],
      ['NaN', 'NaN'],
      ['Infinity', 'Infinity'],
      ['a comma', '5,5'],
      ['two signs', '--5'],
      ['a word', 'five'],
      ['true', 'true'],
      ['null', 'null'],
      ['a digit of another script', '%EF%BC%95'],
      ['a separator', '1_0'],
      ['the suffix of a big integer', '5n'],
    ];
    for (const [name, text] of refused) {
      it(`refuses ${name} for lat, lng, radius and limit`, async () => {
        const answer = await agent.send(
          'GET',
          `${PATH}?lat=${text}&lng=${text}&radius=${text}&limit=${text}`,
        );
        assertInvalid(answer, [
          'query.lat: float_parsing',
          'query.lng: float_parsing',
          'query.radius: float_parsing',
          'query.limit: int_parsing',
        ]);
      });
    }

    const limits: Query[] = [
      { lat: -90, lng: -180 },
      { lat: 90, lng: 180 },
      { lat: 0, lng: 0, radius: 0.1 },
      { lat: 0, lng: 0, radius: 100 },
      { lat: 0, lng: 0, limit: 1 },
      { lat: 0, lng: 0, limit: 100 },
    ];
    for (const query of limits) {
      it(`takes the limits themselves: ${JSON.stringify(query)}`, async () => {
        assert.equal((await agent.get(PATH, query)).status, 200);
      });
    }
  });
});
