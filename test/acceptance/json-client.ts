// What all clients of tests share: the methods of HTTP, queries, and bodies that are JSON.

export type Query = Record<string, string | number | readonly (string | number)[]>;

export abstract class JsonClient<Answer> {
  abstract send(method: string, path: string, options?: { readonly body?: unknown }): Promise<Answer>;

  get(path: string, query: Query = {}): Promise<Answer> {
    return this.send('GET', path + toQueryString(query));
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.send('POST', path, { body });
  }

  patch(path: string, body?: unknown): Promise<Answer> {
    return this.send('PATCH', path, { body });
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path);
  }
}

export function toQueryString(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((item) => [name, String(item)] as [string, string]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
