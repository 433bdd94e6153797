// A new route is in the OpenAPI description, in /docs and in the guide by itself: none of these has to know it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Policy } from '../../src/domain/policy.ts';
import Type, { nameShapes } from '../../src/domain/schema.ts';
import { writeReference } from '../../src/http/browser/reference.ts';
import { toMarkdown } from '../../src/http/guide/blocks.ts';
import type { DescribedRoute } from '../../src/http/guide/description.ts';
import { writeGuide } from '../../src/http/guide/guide.ts';
import { operationsOf } from '../../src/http/guide/operations.ts';
import { describeApi } from '../../src/http/openapi.ts';
import { DESCRIBED_ROUTES } from '../../src/http/routes/table.ts';

const URL = 'https://events.example.org';

const Venue = Type.Object({ name: Type.String({ description: 'As on its door.', examples: ['Club'] }) });
const VenueList = Type.Object({ venues: Type.Array(Venue), others: Type.Array(Type.Object({})) });
nameShapes({ Venue });

const listVenues: DescribedRoute = {
  method: 'GET',
  path: '/v1/venues/{city}',
  access: 'read',
  endpoint: {
    operationId: 'listVenues',
    tag: 'Events',
    summary: 'List venues',
    description: 'Returns all venues of a city.',
    path: Type.Object({ city: Type.String({ examples: ['Berlin'] }) }),
    query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 7, default: 5 })) }),
    response: VenueList,
    errors: ['NOT_RESTORABLE'],
  },
};
const forAdministrators: DescribedRoute = {
  ...listVenues,
  path: '/v1/admin/venues',
  access: 'administrator',
  endpoint: { ...listVenues.endpoint, operationId: 'listAllVenues', tag: 'Administration' },
};

interface Api {
  paths: Record<string, { get: { responses: Record<string, { content?: object; $ref?: string }> } }>;
  components: { schemas: Record<string, object> };
}
// Other documents are written from the same operations.
const operations = operationsOf([...DESCRIBED_ROUTES, listVenues, forAdministrators]);
const toApi = (some: typeof operations) => JSON.parse(JSON.stringify(describeApi(some, URL))) as Api;

describe('a new route', () => {
  it('is in the OpenAPI description, with a reference to a shape that has a name', () => {
    const { responses } = toApi(operations).paths['/v1/venues/{city}']!.get;
    assert.deepEqual(responses['200']!.content, {
      'application/json': {
        schema: {
          type: 'object',
          required: ['venues', 'others'],
          properties: {
            venues: { type: 'array', items: { $ref: '#/components/schemas/Venue' } },
            others: { type: 'array', items: { type: 'object', properties: {} } },
          },
        },
        example: { venues: [{ name: 'Club' }], others: [{}] },
      },
    });
    assert.equal(responses['409']!.$ref, '#/components/responses/NOT_RESTORABLE');
  });

  it('adds its named shapes after those that were there before', () => {
    const before = Object.keys(toApi(operationsOf(DESCRIBED_ROUTES)).components.schemas);
    assert.deepEqual(Object.keys(toApi(operations).components.schemas), [...before, 'Venue']);
    assert.deepEqual(before.slice(0, 3), ['Event', 'EventCreate', 'EventUpdate']);
    const last = before.indexOf('ErrorResponse');
    assert.deepEqual(before.slice(last, last + 2), ['ErrorResponse', 'ValidationErrorResponse']);
  });

  it('is in /docs, with its parameters and errors', () => {
    const { REFERENCE_OPERATIONS: html = '', REFERENCE_CONTENTS: contents = '' } = writeReference(
      operations,
      URL,
    );
    for (const id of ['listVenues', 'listAllVenues']) {
      const from = html.indexOf(`id="${id}"`);
      assert.ok(from > 0, id);
      const form = html.slice(from, html.indexOf('</form>', from));
      assert.match(form, /<label>limit<\/label>[\s\S]*1 to 7, default 5/);
      assert.match(form, /href="#NOT_RESTORABLE"/);
      assert.ok(contents.includes(`href="#${id}"`));
    }
  });

  it('is in the guide if it is for agents', () => {
    const limits = { read: 1, readwrite: 1, admin: 1 };
    const policy = { registrationTier: 'read', tierLimits: limits } as Policy;
    const text = toMarkdown(writeGuide(operations, policy, [], URL, '2031-05-01'));
    assert.match(text, /\*\*List venues\.\*\* `GET \/v1\/venues\/\{city\}`\. Returns all venues of a city\./);
    assert.match(text, /\| `limit` \| query \| integer, 1 to 7, default 5 \| {2}\|/);
    assert.ok(text.includes(`curl -s "${URL}/v1/venues/Berlin"`));
    assert.match(text, /Specific errors: `NOT_RESTORABLE`/);
    assert.ok(!text.includes('/v1/admin/venues'));
  });
});
