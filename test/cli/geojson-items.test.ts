// GeoJSON to bodies of creates: where features are, what each lacks, and what is not GeoJSON at all.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readFeatures } from '../../src/cli/import/geojson-items.ts';
import { readItems, readUntilBroken } from './item-reading.ts';

const read = (content: string | Buffer, options = {}) => readItems('geojson', content, options);
const point = (lng: unknown, lat: unknown) => ({ type: 'Point', coordinates: [lng, lat] });
const feature = (properties: unknown, geometry: unknown = point(13.4, 52.5)) => ({
  type: 'Feature',
  geometry,
  properties,
});
const collection = (features: unknown[], beside: object = {}) =>
  JSON.stringify({ type: 'FeatureCollection', ...beside, features, ...beside });
const PLACE = { lat: 52.5, lng: 13.4 };

describe('GeoJSON', () => {
  it('is a collection, a feature, features one after the other, or a text sequence', async () => {
    const [a, b] = [feature({ title: 'a' }), feature({ title: 'b' })];
    const bodies = [
      [1, { title: 'a', ...PLACE }],
      [2, { title: 'b', ...PLACE }],
    ];
    const [first, second] = [JSON.stringify(a), JSON.stringify(b)];
    assert.deepEqual(await read(collection([a, b])), bodies);
    assert.deepEqual(
      await read(JSON.stringify({ features: [a, b], type: 'FeatureCollection' }, null, 2)),
      bodies,
    );
    assert.deepEqual(await read(`\ufeff${first}\r\n${second}`), bodies);
    assert.deepEqual(await read(`\x1e${first}\n\x1e${second}\n`), bodies);
    assert.deepEqual(await read(`${collection([a])}\n${collection([b])}`), bodies);
    assert.deepEqual(await read(first), bodies.slice(0, 1));
    for (const none of [collection([]), '{"type":"FeatureCollection","features":[ \n ]}']) {
      assert.deepEqual(await read(none), []);
    }
  });

  it('has its features found whatever else it contains, and wherever a chunk ends', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 8 });
    const hostile = fc.constantFrom('features', '"features":[{', '}]', '\\"', '{', '🎪', '[[', '\\');
    const any = fc.oneof(text, hostile, fc.integer(), fc.array(hostile), fc.dictionary(hostile, hostile));
    const properties = fc.dictionary(
      fc.oneof(text, hostile).filter((name) => name !== '__proto__'),
      any,
      { maxKeys: 4 },
    );
    const beside = fc.dictionary(
      text.filter((name) => !['type', 'features', '__proto__'].includes(name)),
      fc.oneof(any, fc.constant({ features: [feature({ title: 'inside' })] })),
    );
    const property = fc.asyncProperty(
      fc.array(properties, { maxLength: 5 }),
      beside,
      fc.integer({ min: 1, max: 50 }),
      async (all, members, chunkBytes) => {
        const read2 = await read(
          collection(
            all.map((each) => feature(each)),
            members,
          ),
          { chunkBytes },
        );
        const expected = all.map((each, at) => [at + 1, { ...JSON.parse(JSON.stringify(each)), ...PLACE }]);
        assert.deepEqual(
          read2.map(([number, body]) => [number, { ...(body as object) }]),
          expected,
        );
      },
    );
    await fc.assert(property, { seed: 20_261_115, numRuns: 300 });
  });

  it('may start with a byte order mark, wherever a chunk ends, but not with half of one', async () => {
    for (const chunkBytes of [1, 2, 3, 4]) {
      assert.equal((await read(`\ufeff ${collection([feature({})])}`, { chunkBytes })).length, 1);
      const half = Buffer.from(`\ufeff${collection([])}`);
      await assert.rejects(
        read(Buffer.concat([half.subarray(0, 2), half.subarray(3)]), { chunkBytes }),
        /objects/,
      );
      await assert.rejects(read(half.subarray(0, 2), { chunkBytes }), /incomplete/);
    }
  });

  it('keeps only copies of parts of a chunk, so that chunks do not pile up in memory', async () => {
    const bytes = Buffer.from(collection([feature({ title: 'a' })], { name: 'x' }));
    const chunks = async function* () {
      const chunk = Buffer.alloc(7);
      for (let at = 0; at < bytes.length; at += chunk.length) {
        yield chunk.subarray(0, bytes.copy(chunk, 0, at));
        chunk.fill('#');
      }
    };
    const items = (await Array.fromAsync(readFeatures(chunks(), {}))).flat();
    assert.deepEqual(
      items.map((item) => item.read()),
      [{ title: 'a', ...PLACE }],
    );
  });

  const given = {
    ...{ event_type: 'talk', audience: 'kids', timezone: 'UTC', location_name: 'Hall', address: 'Street' },
    ...{ lat: 1, lng: 2 },
  } as const;

  it('gets missing fields from the options, which change no others', async () => {
    assert.deepEqual(await read(collection([feature({ title: 'a', audience: null }, null)]), { given }), [
      [1, { title: 'a', ...given }],
    ]);
    const own = { ...{ event_type: 'market', audience: 'all', timezone: 'Asia/Tokyo' }, location_name: 'A' };
    assert.deepEqual(await read(collection([feature({ ...own, address: '' })]), { given }), [
      [1, { ...own, address: '', ...PLACE }],
    ]);
    assert.deepEqual(await read(collection([feature(own)]), { given }), [[1, { ...own, ...PLACE }]]);
  });

  it('has an altitude that is ignored', async () => {
    const high = { type: 'Point', coordinates: [180, -90, 8848] };
    assert.deepEqual(await read(collection([feature({}, high)])), [[1, { lat: -90, lng: 180 }]]);
  });

  const refused: [name: string, item: unknown, reason: string][] = [
    ['null', null, 'body: must be a GeoJSON Feature'],
    ['a list', [], 'body: must be a GeoJSON Feature'],
    ['a text', 'Feature', 'body: must be a GeoJSON Feature'],
    ['a geometry', point(1, 2), 'body: must be a GeoJSON Feature'],
    ['properties that are a list', feature([]), 'body.properties: must be an object'],
    ['a line', feature({}, { type: 'LineString', coordinates: [] }), 'body.geometry: must be a Point'],
    [
      'two points',
      feature(
        {},
        {
          type: 'MultiPoint',
          coordinates: [
            [1, 2],
            [3, 4],
          ],
        },
      ),
      'body.geometry: must be a Point',
    ],
    [
      'an invalid list of points',
      feature({}, { type: 'MultiPoint', coordinates: [1] }),
      'body.geometry.coordinates: must be an array of longitude and latitude',
    ],
    ['a geometry that is a text', feature({}, 'here'), 'body.geometry: must be a Point'],
    [
      'one coordinate',
      feature({}, { type: 'Point', coordinates: [1] }),
      'body.geometry.coordinates: must be an array of longitude and latitude',
    ],
  ];
  for (const [name, item, reason] of refused) {
    it(`refuses ${name}, even with options, and reads on`, async () => {
      const items = await read(collection([item, feature({ title: 'next' })]), { given: { lat: 1, lng: 2 } });
      assert.deepEqual(items, [
        [1, reason],
        [2, { title: 'next', ...PLACE }],
      ]);
    });
  }

  it('does not fill in a null coordinate from the options', async () => {
    const [item] = await read(collection([feature({}, point(null, 5))]), { given: { lat: 1, lng: 2 } });
    assert.deepEqual(item, [1, { lat: 5, lng: '' }]);
  });

  it('refuses an empty position in the list', async () => {
    assert.deepEqual(await read('{"type":"FeatureCollection","features":[,1]}'), [
      [1, 'body: must be a GeoJSON Feature'],
      [2, 'body: must be a GeoJSON Feature'],
    ]);
  });

  it('refuses items that are not JSON, not UTF-8 or too long, and reads on', async () => {
    const long = JSON.stringify(feature({ title: 'x'.repeat(1_048_576) }));
    const text = `{"type":"FeatureCollection","features":[{"a":},,${long},{"a":"\xff"},${JSON.stringify(feature({}))},]}`;
    assert.deepEqual(await read(Buffer.from(text, 'latin1')), [
      [1, 'body: must be valid JSON'],
      [2, 'body: must be a GeoJSON Feature'],
      [3, 'body: must not be longer than 1 MiB'],
      [4, 'body: must be valid UTF-8'],
      [5, PLACE],
      [6, 'body: must be a GeoJSON Feature'],
    ]);
    assert.deepEqual(await read(`${long}${JSON.stringify(feature({}))}`), [
      [1, 'body: must not be longer than 1 MiB'],
      [2, PLACE],
    ]);
  });

  it('keeps the items before a syntax error', async () => {
    const content = `${collection([feature({}), feature({})])},${JSON.stringify(feature({}))}`;
    for (const chunkBytes of [1, 65_536]) {
      const { items, problem } = await readUntilBroken('geojson', content, chunkBytes);
      assert.deepEqual(items, [1, 2]);
      assert.match(problem, /must consist of JSON objects/);
    }
  });

  const broken: [name: string, content: string, reason: RegExp][] = [
    ['an empty file', '', /not valid GeoJSON: it is empty/],
    ['white space', '\ufeff \r\n\t\x1e\n', /not valid GeoJSON: it is empty/],
    ['a list', '[]', /must consist of JSON objects/],
    ['a text', 'title,start\n', /must consist of JSON objects/],
    ['a geometry', JSON.stringify(point(1, 2)), /FeatureCollection or a sequence of Features/],
    ['an object without a type', '{}', /FeatureCollection or a sequence of Features/],
    [
      'features of something else',
      '{"type":"Topology","features":[]}',
      /FeatureCollection or a sequence of Features/,
    ],
    [
      'a collection without features',
      '{"type":"FeatureCollection"}',
      /FeatureCollection or a sequence of Features/,
    ],
    ['features that are not a list', '{"type":"FeatureCollection","features":{}}', /FeatureCollection or/],
    [
      'half a file',
      collection([feature({ title: 'a' }), feature({ title: 'b' })]).slice(0, -9),
      /incomplete/,
    ],
    ['an open text', '{"type":"FeatureCollection', /incomplete/],
    [
      'invalid JSON around the features',
      '{"type":"FeatureCollection" "features":[]}',
      /outside its features/,
    ],
  ];
  for (const [name, content, reason] of broken) {
    it(`refuses the file: ${name}`, () => assert.rejects(read(content), reason));
  }
});
