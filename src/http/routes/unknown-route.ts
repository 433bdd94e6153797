// Requests that match no route: 404, 405 with the methods that the path has, or a preflight response.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import { isAdminPath, sendPreflight } from '../browser/cors.ts';

export function routeNotFound(): AppError {
  return new AppError('NOT_FOUND', 'There is nothing at this URL. See /docs for the URLs that exist.');
}

/** Responds to a request that matches no route: 405 or a preflight response if the path has other methods, else 404. */
export function refuseRoute(
  app: FastifyInstance,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
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
