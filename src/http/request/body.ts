// Request bodies: JSON in strict UTF-8, up to 1 MiB. The domain validates the values.
import type { FastifyInstance } from 'fastify';
import { AppError, invalid } from '../../domain/errors.ts';

export const MAX_BODY_BYTES = 1_048_576;

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/** Makes the server accept JSON only. Invalid JSON is a VALIDATION_ERROR (422); an empty body counts as no body. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, async (request: unknown, body: Buffer) => {
    const { headers } = request as { headers: Record<string, string | undefined> };
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body has a Content-Encoding. Send it uncompressed.');
    }
    return body.length === 0 ? undefined : parseJson(body);
  });
}

function parseJson(body: Buffer): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw invalid([{ loc: ['body'], msg: 'must be valid UTF-8', type: 'json_invalid' }]);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    const where = position === undefined ? '' : `, see character ${position}`;
    throw invalid([{ loc: ['body'], msg: `must be valid JSON${where}`, type: 'json_invalid' }]);
  }
}
