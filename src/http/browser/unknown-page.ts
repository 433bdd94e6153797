// The page for a browser that opens a URL which does not exist. Other clients get the error as JSON; below /v1 all do.
import type { FastifyReply } from 'fastify';
import type { AppError } from '../../domain/errors.ts';
import { sendError } from '../admission/unread-body.ts';
import { asksForHtml } from './front.ts';
import { readPage } from './page-files.ts';
import { PAGE_HEADERS } from './page-headers.ts';

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
