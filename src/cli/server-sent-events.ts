// Reads a stream of server-sent events, as far as answers of the Model Context Protocol need it: the data of each event.

/** The data of one event after another; lines of an event are joined, comments and other fields passed over. */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of readLines(body)) {
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    else if (line === '' && data.length > 0) {
      yield data.join('\n');
      data = [];
    }
  }
}

/** Lines that are complete, whichever way they end. Each chunk is looked at once, however long a line is. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let begun: string[] = [];
  let endsInReturn = false;
  for await (const chunk of body.pipeThrough(new TextDecoderStream() as never) as ReadableStream<string>) {
    // The line ended with the return before; this is the other half of the same end.
    const text = endsInReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') endsInReturn = chunk.endsWith('\r');
    const [first = '', ...others] = text.split(/\r\n|\n|\r/);
    begun.push(first);
    for (const next of others) {
      yield begun.join('');
      begun = [next];
    }
  }
}
