// The line that each request leaves in the log, in the form of the logger's own lines. It is put together here: doing it
// for any object, as the logger can, takes a tenth of the time of a whole request.
import { type DestinationStream, type Logger, pino } from 'pino';

const INFO = 30;

/** Writes a line: the route's pattern, never the address itself, whose parts may be secret or personal. */
export type WriteAccess = (
  requestId: string,
  method: string,
  route: string | undefined,
  status: number,
  ms: number,
) => void;

export function accessLog(logger: Logger): WriteAccess {
  if (!logger.isLevelEnabled('info')) return () => {};
  const { streamSym, chindingsSym, timeSym } = pino.symbols;
  const inner = logger as unknown as Record<symbol, unknown>;
  const stream = inner[streamSym] as DestinationStream;
  const bindings = inner[chindingsSym] as string;
  /** With its name and a comma in front. */
  const time = inner[timeSym] as () => string;
  // Nothing here needs escaping: names of requests and methods have no quotes, and routes are our own.
  return (requestId, method, route, status, ms) => {
    const where = route === undefined ? '' : `,"route":"${route}"`;
    stream.write(
      `{"level":${INFO}${time()}${bindings},"requestId":"${requestId}","method":"${method}"${where},"status":${status},"ms":${Math.round(ms * 10) / 10},"msg":"request"}\n`,
    );
  };
}
