// The access log: one line per request, byte for byte what `logger.info({…}, 'request')` writes. The line is built by hand
// because pino's general serialisation takes a tenth of the time of a whole request.
import { type DestinationStream, type Logger, pino } from 'pino';

const INFO = 30;

/** Writes one line. Takes the route's pattern, never the URL: parts of a URL may be secret or personal. */
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
  /** Returns the whole member with its leading comma: `,"time":…`. */
  const time = inner[timeSym] as () => string;
  // No value needs escaping: request IDs and methods contain no quotes, and route patterns come from our own code.
  return (requestId, method, route, status, ms) => {
    const routeMember = route === undefined ? '' : `,"route":"${route}"`;
    stream.write(
      `{"level":${INFO}${time()}${bindings},"requestId":"${requestId}","method":"${method}"${routeMember},"status":${status},"ms":${Math.round(ms * 10) / 10},"msg":"request"}\n`,
    );
  };
}
