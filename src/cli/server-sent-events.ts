// Reads the data of server-sent events. Supports only what responses of the Model Context Protocol use.

/** Yields the data of each event, its lines joined. Ignores comments and other fields. */
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

/** Yields complete lines that end with CRLF, LF or CR. Scans each chunk once, so that long lines stay cheap. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let partial: string[] = [];
  let endedWithCr = false;
  for await (const chunk of body.pipeThrough(new TextDecoderStream() as never) as ReadableStream<string>) {
    // The previous chunk ended with CR. An LF at the start belongs to the same line end.
    const text = endedWithCr && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') endedWithCr = chunk.endsWith('\r');
    const [first = '', ...others] = text.split(/\r\n|\n|\r/);
    partial.push(first);
    for (const next of others) {
      yield partial.join('');
      partial = [next];
    }
  }
}
