// The authorization server for MCP clients: its metadata, registration, tokens and revocation. Its errors are those of OAuth, not of the API.
// The page on which people consent is in browser/consent.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '../../domain/errors.ts';
import { registerClient } from '../../oauth/clients.ts';
import {
  describeResource,
  describeServer,
  REGISTER_PATH,
  RESOURCE_DOCUMENT_PATH,
  REVOKE_PATH,
  SERVER_DOCUMENT_PATH,
  TOKEN_PATH,
} from '../../oauth/metadata.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { issueTokens, revokeToken } from '../../oauth/token-endpoint.ts';
import { clientNetwork } from '../access/client-network.ts';
import { type AllowedHosts, requireAllowedHost, requireServiceOrigin } from '../access/same-origin.ts';
import { serveConsent } from '../browser/consent.ts';
import { acceptForms } from '../request/body.ts';
import { statusOf } from '../response/errors.ts';
import { replaceHeader } from '../response/headers.ts';
import type { Service } from './endpoint.ts';

export interface OAuthService extends Service, AllowedHosts {
  /** Counts an error, and logs it if it is the service's fault. Returns it as clients see it. */
  noteError(request: FastifyRequest, error: unknown): AppError;
}

/** Limit of a form or a registration: every client that registers is stored. */
const MAX_BYTES = 5_120;

type Form = ReadonlyMap<string, string>;
const NO_FIELDS: Form = new Map();

export function serveOAuth(app: FastifyInstance, service: OAuthService): void {
  const { context } = service;
  app.register((scope, _options, done) => {
    acceptForms(scope, service.admission.bodies);
    scope.addHook('onRequest', (request, reply, next) => {
      request.pattern = request.routeOptions.url;
      service.deadline.watch(reply);
      requireAllowedHost(service, request);
      next();
    });
    serveConsent(scope, service);
    scope.register((api, _apiOptions, ready) => {
      api.setErrorHandler((error, request, reply) => sendOAuthError(service, request, reply, error));
      api.get(RESOURCE_DOCUMENT_PATH, (request, reply) =>
        sendDocument(service, request, reply, describeResource),
      );
      api.get(SERVER_DOCUMENT_PATH, (request, reply) =>
        sendDocument(service, request, reply, describeServer),
      );
      api.post(TOKEN_PATH, { bodyLimit: MAX_BYTES }, async (request, reply) =>
        sendJson(
          reply,
          await issueTokens(context(), requireServiceOrigin(service.publicUrl, request), formOf(request)),
        ),
      );
      api.post(REGISTER_PATH, { bodyLimit: MAX_BYTES }, async (request, reply) => {
        const registered = await registerClient(context(), clientNetwork(request.ip), request.body);
        return sendJson(reply.code(201), registered);
      });
      api.post(REVOKE_PATH, { bodyLimit: MAX_BYTES }, async (request, reply) => {
        await revokeToken(context(), formOf(request));
        return reply.send();
      });
      ready();
    });
    done();
  });
}

function formOf({ body }: FastifyRequest): Form {
  if (body === undefined) return NO_FIELDS;
  if (body instanceof Map) return body;
  throw new OAuthError('invalid_request', 'Send the parameters as application/x-www-form-urlencoded.', 400);
}

function sendDocument(
  service: AllowedHosts,
  request: FastifyRequest,
  reply: FastifyReply,
  describe: (base: string) => object,
): FastifyReply {
  replaceHeader(reply, 'cache-control', 'public, max-age=300');
  return sendJson(reply, describe(requireServiceOrigin(service.publicUrl, request)));
}

function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}

function sendOAuthError(
  { noteError }: OAuthService,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  const shown = error instanceof OAuthError ? error : translate(reply, noteError(request, error));
  return sendJson(reply.code(shown.status), { error: shown.code, error_description: shown.message });
}

/** Error of the API as one of OAuth. */
function translate(reply: FastifyReply, error: AppError): OAuthError {
  const { message, retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  const status = statusOf(error);
  if (status === 429 || status === 503) return new OAuthError('temporarily_unavailable', message, status);
  if (status >= 500) return new OAuthError('server_error', message);
  return new OAuthError('invalid_request', message, status === 422 ? 400 : status);
}
