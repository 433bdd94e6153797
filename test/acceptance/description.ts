// Checks every response against the /openapi.json that the service serves, with a validator that the service does not use
// (Ajv). The suite's client calls it for each response, so no test can leave it out.
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** A request and its response. */
export interface Exchange {
  /** As sent; empty if the request was not HTTP. */
  readonly method: string;
  /** As sent, with its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

interface Media {
  readonly examples?: Record<string, unknown>;
}

interface Response {
  readonly headers?: Record<string, { $ref?: string; required?: boolean }>;
  readonly content?: Record<string, Media>;
}

interface Document {
  readonly paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>;
}

/** Paths that are not in the document because they are pages, not operations. */
const PAGES = /^\/(?:openapi\.json|favicon\.ico|robots\.txt|docs(?:\/[\w.-]+)?)?$/;

export class Description {
  readonly #document: Document;
  readonly #ajv: Ajv2020;
  readonly #templates: readonly { readonly template: string; readonly pattern: RegExp }[];

  constructor(document: object) {
    this.#document = document as Document;
    this.#ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
    formats.default(this.#ajv);
    this.#ajv.addVocabulary(Object.keys(document));
    this.#ajv.addSchema(document, 'openapi');
    // Paths without parameters are tried first.
    this.#templates = Object.keys(this.#document.paths)
      .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
      .map((template) => ({ template, pattern: toPattern(template) }));
  }

  /** Throws an AssertionError that says how the response differs from the document. */
  check(exchange: Exchange): void {
    const { method, path, status, headers, text } = exchange;
    const shown = `${method} ${path.slice(0, 200)} → ${status} ${text.slice(0, 1000)}`;
    assert.ok(headers['x-request-id'], `no X-Request-Id: ${shown}`);
    const template = this.#findTemplate(path);
    const described = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = template === undefined ? undefined : this.#document.paths[template]![described];
    if (template === undefined || operation === undefined) {
      this.#checkOther(exchange, shown);
      return;
    }
    const given = operation.responses[status];
    assert.ok(given, `this status is not described: ${shown}`);
    const pointer = given.$ref ?? toPointer('paths', template, described, 'responses', String(status));
    this.#checkResponse(exchange, pointer, shown);
  }

  #findTemplate(path: string): string | undefined {
    const plain = path.split('?', 1)[0]!;
    return this.#templates.find(({ pattern }) => pattern.test(plain))?.template;
  }

  #checkResponse({ method, headers, text, status }: Exchange, pointer: string, shown: string): void {
    const response = this.#at(pointer) as Response;
    for (const [name, given] of Object.entries(response.headers ?? {})) {
      const header = given.$ref === undefined ? given : (this.#at(given.$ref) as typeof given);
      if (header.required) assert.ok(headers[name.toLowerCase()], `no ${name}: ${shown}`);
    }
    if (response.content === undefined || status === 204) {
      assert.equal(text, '', `a body where none is described: ${shown}`);
      return;
    }
    const type = contentType(headers);
    const media = response.content[type];
    assert.ok(media, `the content type "${type}" is not described: ${shown}`);
    if (method === 'HEAD') {
      assert.equal(text, '', `a body on HEAD: ${shown}`);
      return;
    }
    const body = /[/+]json$/.test(type) ? parse(text, shown) : text;
    this.#validate(`${pointer}/content/${escapeStep(type)}/schema`, body, shown);
    if (status >= 400) {
      const { code } = (body as { error: { code: string } }).error;
      assert.ok(media.examples && code in media.examples, `the code is not described: ${shown}`);
    }
  }

  /** Checks a response of no operation: a page, a preflight, or an error. */
  #checkOther({ method, path, status, headers, text }: Exchange, shown: string): void {
    if (status < 400) {
      const isPage = PAGES.test(path.split('?', 1)[0]!) && (method === 'GET' || method === 'HEAD');
      assert.ok(isPage || (method === 'OPTIONS' && status === 204), `not described: ${shown}`);
      if (!isPage || method === 'HEAD') assert.equal(text, '', `a body where none belongs: ${shown}`);
      return;
    }
    assert.equal(contentType(headers), 'application/json', shown);
    if (method === 'HEAD') {
      assert.equal(text, '', `a body on HEAD: ${shown}`);
      return;
    }
    this.#validate('#/components/schemas/ErrorResponse', parse(text, shown), shown);
  }

  #validate(pointer: string, body: unknown, shown: string): void {
    const reference = `openapi${pointer}`;
    const validate = this.#ajv.getSchema(reference)!;
    assert.ok(validate(body), `${this.#ajv.errorsText(validate.errors)}: ${shown}`);
  }

  /** The value at a pointer such as #/components/headers/X. */
  #at(pointer: string): unknown {
    const steps = pointer.slice(2).split('/').map(unescapeStep);
    let at: unknown = this.#document;
    for (const step of steps) at = (at as Record<string, unknown>)[step];
    assert.ok(at, `the description refers to ${pointer}, which it does not have`);
    return at;
  }
}

function toPattern(template: string): RegExp {
  const literal = template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll(/\{\w+\}/g, '[^/]*')}$`);
}

function toPointer(...steps: readonly string[]): string {
  return `#/${steps.map(escapeStep).join('/')}`;
}

function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
}

function unescapeStep(step: string): string {
  return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
}

function contentType(headers: Exchange['headers']): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]!.trim();
}

function parse(text: string, shown: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return assert.fail(`the body is not JSON: ${shown}`);
  }
}
