// Requests that match no route: 404, 405 with the methods that the path has, or a preflight response. A browser that opens a URL
// which does not exist gets a page; other clients get the error as JSON, and below /v1 all do.
import type { FastifyInstance, FastifyReply, HTTPMethods } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import { sendError } from '../admission/unread-body.ts';
import { isAdminPath, sendPreflight } from '../browser/cors.ts';
import { asksForHtml } from '../browser/front.ts';
import { PAGE_HEADERS, readPage } from '../browser/page-files.ts';

export function routeNotFound(): AppError {
  return new AppError('NOT_FOUND', 'There is nothing at this URL. See /docs for the URLs that exist.');
}

/** Responds to a request that matches no route: 405 or a preflight response if the path has other methods, else 404. */
export function refuseRoute(app: FastifyInstance, path: string, reply: FastifyReply): FastifyReply {
  const { request } = reply;
  const methods = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'].filter((method) => matches(app, method, path));
  if (methods.length === 0) throw routeNotFound();
  const cors = !isAdminPath(path);
  const allow = [...methods, ...(cors ? ['OPTIONS'] : [])].join(', ');
  if (request.method === 'OPTIONS' && cors) return sendPreflight(reply, path, allow);
  reply.header('allow', allow);
  throw new AppError('METHOD_NOT_ALLOWED', `This URL supports ${allow}, not ${request.method}.`);
}

function matches(app: FastifyInstance, method: string, path: string): boolean {
  return app.findRoute({ method: method as HTTPMethods, url: path }) !== null;
}

const API = /^\/v1(?:[/?]|$)/;

let page: string | undefined;

/** Sends an error: as a page if there is no such route or file and the client asks for HTML. */
export function sendErrorOrPage(reply: FastifyReply, error: AppError): FastifyReply {
  const { method, pattern, headers, raw } = reply.request;
  const isUnknown = error.code === 'NOT_FOUND' && pattern === undefined && !API.test(raw.url!);
  if (!isUnknown || !['GET', 'HEAD'].includes(method) || !asksForHtml(headers.accept))
    return sendError(reply, error);
  page ??= readPage('unknown.html');
  return sendError(reply.headers(PAGE_HEADERS), error, page);
}
