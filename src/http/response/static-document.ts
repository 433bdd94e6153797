// Static documents: responses that never change while the service runs, such as /openapi.json and the console's files. All
// clients are sent the same buffer, so clients that do not read cost no memory. It is compressed once per encoding, on Node's
// thread pool, and has an ETag.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { isNotModified, readQualities } from './formats.ts';
import { addHeader, addVary, replaceHeader } from './headers.ts';
import { sendNotModified } from './send.ts';

export type Encoding = 'br' | 'gzip' | 'identity';

interface Representation {
  readonly body: Buffer;
  /** Strong: a hash of the body, so each encoding has its own. */
  readonly etag: string;
}

/** A smaller document fits in one packet anyway. */
const COMPRESS_FROM_BYTES = 1_024;
const COMPRESSIBLE = /^(?:text\/|application\/json|image\/svg\+xml)/;

/** All documents take 0.02 s. The highest quality would save another tenth and take 0.75 s. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const ENCODERS: Readonly<Record<Encoding, (content: Buffer) => Promise<Buffer>>> = {
  br: (content) => promisify(brotliCompress)(content, BROTLI),
  gzip: promisify<Buffer, Buffer>(gzip),
  identity: async (content) => content,
};

export class StaticDocument {
  readonly #content: Buffer;
  readonly #type: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #isCompressible: boolean;
  readonly #representations = new Map<Encoding, Promise<Representation>>();

  /** The names in `headers` are in lower case. */
  constructor(content: string | Buffer, type: string, headers: Readonly<Record<string, string>> = {}) {
    this.#content = typeof content === 'string' ? Buffer.from(content) : content;
    this.#type = type;
    this.#headers = headers;
    this.#isCompressible = this.#content.length >= COMPRESS_FROM_BYTES && COMPRESSIBLE.test(type);
  }

  /**
   * Sends the document in the encoding that the request prefers, or a 304 if the client has it. The first responses wait
   * until it is compressed; then they have the same length and ETag as all later ones.
   */
  async send(reply: FastifyReply): Promise<FastifyReply> {
    const { headers } = reply.request;
    const encoding = this.#isCompressible ? acceptedEncoding(headers['accept-encoding']) : 'identity';
    const { body, etag } = await this.#getRepresentation(encoding);
    for (const [name, value] of Object.entries(this.#headers)) replaceHeader(reply, name, value);
    if (this.#isCompressible) addVary(reply, 'Accept-Encoding');
    addHeader(reply, 'etag', etag);
    if (isNotModified(headers['if-none-match'], etag)) return sendNotModified(reply);
    if (encoding !== 'identity') addHeader(reply, 'content-encoding', encoding);
    return reply.type(this.#type).send(body);
  }

  /** Makes every representation, so that no request waits for one. Throws if there is no memory for it. */
  async prepare(): Promise<void> {
    const encodings: Encoding[] = this.#isCompressible ? ['identity', 'br', 'gzip'] : ['identity'];
    for (const encoding of encodings) await this.#getRepresentation(encoding);
  }

  #getRepresentation(encoding: Encoding): Promise<Representation> {
    const known = this.#representations.get(encoding);
    if (known) return known;
    const made = represent(this.#content, encoding);
    this.#representations.set(encoding, made);
    // The next request tries again, for example if there was no memory for it.
    made.catch(() => this.#representations.delete(encoding));
    return made;
  }
}

/** The documents of a server. Each is made by its first request, or before it by `prepare`. */
export class StaticDocuments {
  readonly #getters: (() => StaticDocument)[] = [];

  /** Returns a function that makes the document the first time, and again when `version` changes. */
  add(make: () => StaticDocument, version: () => string = () => ''): () => StaticDocument {
    let made: { readonly document: StaticDocument; readonly version: string } | undefined;
    const get = () => {
      const current = version();
      if (made?.version !== current) made = { document: make(), version: current };
      return made.document;
    };
    this.#getters.push(get);
    return get;
  }

  /** Serves the document that `make` returns. */
  serve(app: FastifyInstance, path: string, make: () => StaticDocument, version?: () => string): void {
    const document = this.add(make, version);
    app.get(path, (_request, reply) => document().send(reply));
  }

  /** Makes and compresses all documents, one after the other. To call when the service is ready. */
  async prepare(): Promise<void> {
    for (const get of this.#getters) await get().prepare();
  }
}

async function represent(content: Buffer, encoding: Encoding): Promise<Representation> {
  const body = await ENCODERS[encoding](content);
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}

/**
 * Chooses the encoding with the highest quality in Accept-Encoding; in a tie, the one that makes the document smallest.
 * Never 406: falls back to identity, which is not encoded.
 */
export function acceptedEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined) return 'identity';
  const qualities = readQualities(acceptEncoding);
  const others = qualities.get('*') ?? 0;
  const br = qualities.get('br') ?? others;
  const gzip = qualities.get('gzip') ?? qualities.get('x-gzip') ?? others;
  const identity = qualities.get('identity') ?? others;
  const best = Math.max(br, gzip);
  if (best === 0 || identity > best) return 'identity';
  return br === best ? 'br' : 'gzip';
}
