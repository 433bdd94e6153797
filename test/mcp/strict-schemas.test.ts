// The arguments of every tool are described within the subset of JSON Schema that strict modes of model providers take: OpenAI's
// documented "supported schemas", which is the smallest. test/clients/tool-schemas.test.ts converts them with real packages.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TOOLS } from '../../src/mcp/tools.ts';

interface Schema {
  readonly type: string | readonly string[];
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly description?: string;
}

const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'minItems', 'maxItems'],
  string: ['enum'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
};

function assertStrict(schema: Schema, at: string): void {
  const [type, ...others] = [schema.type].flat() as string[];
  assert.ok(others.length === 0 || (others.length === 1 && others[0] === 'null'), at);
  assert.ok(KEYWORDS[type!], `${at}: ${type}`);
  for (const keyword of Object.keys(schema))
    assert.ok(['type', 'description', ...KEYWORDS[type!]!].includes(keyword), `${at}: ${keyword}`);
  if (type === 'array') assertStrict(schema.items!, `${at}[]`);
  if (type === 'object') {
    assert.equal(schema.additionalProperties, false, at);
    for (const name of schema.required ?? []) assert.ok(name in schema.properties!, `${at}.${name}`);
    for (const [name, field] of Object.entries(schema.properties!)) {
      assert.ok(field.description, `${at}.${name} has a description`);
      assertStrict(field, `${at}.${name}`);
    }
  }
}

describe('the input schema', () => {
  for (const { name, input } of TOOLS) {
    it(`of ${name} has only what strict modes take`, () => {
      const schema = input as unknown as Schema;
      assert.equal(schema.type, 'object');
      assertStrict(schema, name);
    });
  }

  it('says in words what it cannot say in keywords', () => {
    const field = (tool: string, name: string) =>
      (TOOLS.find((each) => each.name === tool)!.input.properties as Record<string, Schema>)[name]!
        .description!;
    assert.match(field('create_event', 'title'), /At most 200 characters\.$/);
    assert.match(field('create_event', 'audience'), /Default: all\.$/);
    assert.match(field('search_events', 'limit'), /Default: 30\.$/);
  });
});
