// Sign-in and sign-out of the console: redirects to the identity provider and back, sessions, and the picture of the
// signed-in administrator. The rules are in usecases/sessions.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SIGN_IN_MS, type SignInProblem, toReturnPath } from '../../domain/administration/session.ts';
import { AppError } from '../../domain/errors.ts';
import Type from '../../domain/schema.ts';
import { reader } from '../../domain/shape.ts';
import type { Context } from '../../usecases/context.ts';
import * as sessions from '../../usecases/sessions.ts';
import { clientNetwork } from '../access/client-network.ts';
import { clearCookie, readCookie, setCookie } from '../access/cookies.ts';
import { isSameOrigin, requireSameOrigin, serviceOrigin } from '../access/same-origin.ts';

export interface SignInRoutes {
  readonly publicUrl?: string | undefined;
  /** Called only when the service is ready. */
  readonly context: () => Context;
  /** Called with errors of the identity provider. */
  readonly onFault: (request: FastifyRequest, error: AppError) => void;
}

const SESSION = '/admin/session';
const LOGIN = '/admin/login';
const CALLBACK = '/admin/callback';
const PICTURE = '/admin/picture';
const TOKEN = '/admin/token';
const LOGOUT = '/admin/logout';
const LOGOUT_EVERYWHERE = '/admin/logout-everywhere';

/** The only method that each of these paths supports. */
export const SIGN_IN_METHODS: ReadonlyMap<string, string> = new Map([
  ...[SESSION, LOGIN, CALLBACK, PICTURE].map((path) => [path, 'GET'] as const),
  ...[TOKEN, LOGOUT, LOGOUT_EVERYWHERE].map((path) => [path, 'POST'] as const),
]);

const readTokenBody = reader(Type.Object({ token: Type.String({ minLength: 1 }) }), 'body');

/** Registers the routes, each with one method only. A HEAD must not start or finish a sign-in. */
export function serveSignIn(app: FastifyInstance, options: SignInRoutes): void {
  const { publicUrl, context } = options;
  const withoutHead = { exposeHeadRoute: false };
  /** Ignores the cookie if the request comes from another site, so that such a page learns nothing. */
  const readSessionCookie = (request: FastifyRequest) =>
    isSameOrigin(publicUrl, request) ? readCookie(publicUrl, request, 'session') : undefined;

  app.get(SESSION, withoutHead, async (request, reply) => {
    const described = await sessions.describeSession(context(), readSessionCookie(request), PICTURE);
    return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(described));
  });
  app.get(LOGIN, withoutHead, (_request, reply) => beginSignIn(options, reply));
  app.get(CALLBACK, withoutHead, (_request, reply) => finishSignIn(options, reply));
  app.get(PICTURE, withoutHead, async (request, reply) => {
    const { type, bytes } = await sessions.getPicture(context(), readSessionCookie(request));
    return reply
      .header('content-type', type)
      .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox")
      .send(bytes);
  });

  const checkOrigin = (request: FastifyRequest, _reply: unknown, done: () => void) => {
    requireSameOrigin(publicUrl, request);
    done();
  };
  const checkTokenForm = (request: FastifyRequest, _reply: unknown, done: () => void) => {
    sessions.requireTokenSessions(context());
    if (!isSameOrigin(publicUrl, request)) {
      throw new AppError(
        'INVALID_TOKEN',
        'A token opens a session only from the console’s own pages. Enter it at /admin.',
      );
    }
    done();
  };
  app.post(TOKEN, { onRequest: checkTokenForm }, async (request, reply) => {
    const { token } = readTokenBody(request.body);
    keepSession(options, reply, await sessions.openTokenSession(context(), token.trim()));
    return reply.code(204).send();
  });
  app.post(LOGOUT, { onRequest: checkOrigin }, async (request, reply) => {
    await sessions.endSession(context(), readCookie(publicUrl, request, 'session'));
    clearCookie(publicUrl, reply, 'session');
    return reply.code(204).send();
  });
  app.post(LOGOUT_EVERYWHERE, { onRequest: checkOrigin }, async (request, reply) => {
    await sessions.endAllSessions(context(), readCookie(publicUrl, request, 'session'));
    clearCookie(publicUrl, reply, 'session');
    return reply.code(204).send();
  });
}

/** Redirects to the identity provider or, if that is not possible, back to the console with the reason. */
async function beginSignIn(options: SignInRoutes, reply: FastifyReply): Promise<FastifyReply> {
  const { publicUrl, context, onFault } = options;
  const { request } = reply;
  const { signIn } = context().console;
  const query = new URLSearchParams(request.query as string);
  const returnPath = toReturnPath(query.get('return') ?? undefined);
  const chooseAccount = query.get('account') === 'choose';
  if (!signIn) return reply.redirect(returnPath, 303);
  const origin = serviceOrigin(publicUrl, request);
  if (origin === undefined) {
    throw new AppError('BAD_REQUEST', 'Sign-in needs a URL to return to. Send a valid Host header.');
  }
  // The provider redirects back to the host of PUBLIC_URL. A cookie set under another host name would be missing there, so
  // redirect to that host first. Do so only once (`here`): a proxy may hide the host name that the browser used.
  if (!isHostOf(origin, request.host) && !query.has('here')) {
    const there = new URLSearchParams({ return: returnPath, here: '1' });
    if (chooseAccount) there.set('account', 'choose');
    return reply.redirect(`${origin}${LOGIN}?${there}`, 302);
  }
  try {
    const redirectUri = origin + CALLBACK;
    const { url, sealed } = await signIn.begin({ redirectUri, returnPath, chooseAccount });
    setCookie(publicUrl, reply, 'signIn', sealed, SIGN_IN_MS);
    return reply.redirect(url, 302);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'UNAVAILABLE') throw error;
    onFault(request, error);
    return redirectWithProblem(reply, 'provider', returnPath);
  }
}

/** Opens a session for the identity that the provider confirms, or redirects to the console with the reason why not. */
async function finishSignIn(options: SignInRoutes, reply: FastifyReply): Promise<FastifyReply> {
  const { publicUrl, context, onFault } = options;
  const { request } = reply;
  const { signIn } = context().console;
  if (!signIn) return reply.redirect(toReturnPath(undefined), 303);
  clearCookie(publicUrl, reply, 'signIn');
  const begun = readCookie(publicUrl, request, 'signIn');
  const outcome = await signIn.finish(request.query as string, begun, () =>
    sessions.spendSignIn(context(), clientNetwork(request.ip)),
  );
  const returnPath = toReturnPath(outcome.returnPath);
  if (outcome.kind === 'failed') {
    if (outcome.cause) onFault(request, providerFault(outcome.cause));
    return redirectWithProblem(reply, outcome.problem, returnPath);
  }
  const opened = await sessions.openSession(context(), outcome.identity);
  if (!opened) {
    onFault(request, providerFault(new Error('its claims do not fit in a session cookie')));
    return redirectWithProblem(reply, 'provider', returnPath);
  }
  keepSession(options, reply, opened);
  return reply.redirect(returnPath, 303);
}

function keepSession(
  { publicUrl, context }: SignInRoutes,
  reply: FastifyReply,
  { sealed, expiresMs }: sessions.OpenedSession,
): void {
  setCookie(publicUrl, reply, 'session', sealed, expiresMs - context().clock());
}

function isHostOf(origin: string, host: string): boolean {
  const { protocol, host: own } = new URL(origin);
  return URL.parse(`${protocol}//${host}`)?.host === own;
}

/** Redirects to the console with our own word for the problem. Echoes no text of the provider or the URL. */
function redirectWithProblem(reply: FastifyReply, problem: SignInProblem, returnPath: string): FastifyReply {
  return reply.redirect(`/admin/?${new URLSearchParams({ problem, return: returnPath })}`, 303);
}

function providerFault(cause: Error): AppError {
  const message = 'Sign-in failed: the identity provider does not respond, or its response is not valid.';
  return new AppError('UNAVAILABLE', message, { cause });
}
