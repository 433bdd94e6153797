// An operation of the stream: a request, and how much time passes before it. And its response.

export interface Request {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Sent with a token of the service that receives it. */
  readonly asAdministrator: boolean;
}

export interface Operation extends Request {
  readonly passMs: number;
}

export interface Answer {
  readonly status: number;
  /** All headers but those that always differ. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export function request(
  name: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: object,
): Request {
  return { name, method, path, headers, body: body && JSON.stringify(body), asAdministrator: false };
}

export function administer(name: string, method: string, path: string, body?: object): Request {
  return { ...request(name, method, path, {}, body), asAdministrator: true };
}

export function parse({ text }: Answer): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}
