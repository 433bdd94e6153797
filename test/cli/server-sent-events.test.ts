// Server-sent events, split into chunks anywhere: the data of each event, whatever its line endings.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readEventStream } from '../../src/cli/mcp.ts';

async function read(text: string, chunkBytes: number): Promise<string[]> {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, at) =>
    bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes),
  );
  return Array.fromAsync(readEventStream(ReadableStream.from(chunks) as ReadableStream<Uint8Array>));
}

describe('a stream of events', () => {
  const lines = [
    ': hello',
    'event: message',
    'id: 7',
    'data: {"a":',
    'data:"Käse 🏮"}',
    '',
    '',
    'data: two',
    '',
  ];
  for (const end of ['\n', '\r\n', '\r']) {
    for (const chunkBytes of [1, 2, 3, 7, 1000]) {
      it(`returns the data of each event, with ${JSON.stringify(end)} in chunks of ${chunkBytes}`, async () => {
        const text = lines.map((line) => line + end).join('');
        assert.deepEqual(await read(text, chunkBytes), ['{"a":\n"Käse 🏮"}', 'two']);
      });
    }
  }

  it('omits an incomplete event', async () => {
    assert.deepEqual(await read('data: one\n\ndata: two\n', 5), ['one']);
  });

  it('reads a line of many megabytes', { timeout: 20_000 }, async () => {
    const long = 'x'.repeat(32 * 2 ** 20);
    assert.deepEqual(await read(`data: ${long}\n\n`, 65_536), [long]);
  });
});
