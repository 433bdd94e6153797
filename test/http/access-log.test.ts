// The hand-written access-log line against pino's own line for the same object: byte for byte equal.
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { AppError, type ErrorCode, type Part, type RefusedBy } from '../../src/domain/errors.ts';
import { accessLog } from '../../src/http/log/access-log.ts';

interface Access {
  readonly requestId: string;
  readonly method: string;
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly traceId?: string;
  readonly code?: ErrorCode;
  readonly cause?: RefusedBy | Part;
  readonly agent?: string;
  readonly network?: string;
}

const REQUESTS: readonly Access[] = [
  { requestId: '01JZ9GX4T0QW3N1V8R5Y7K2MHD', method: 'GET', route: '/docs', status: 200, ms: 0 },
  { requestId: 'a', method: 'PATCH', route: '/v1/events/:event_id', status: 422, ms: 12.3 },
  { requestId: 'b', method: 'GET', route: '/admin/*', status: 304, ms: 0.1 },
  { requestId: 'c', method: 'M-SEARCH', route: undefined, status: 404, ms: 7 },
  {
    requestId: 'e',
    method: 'GET',
    route: '/mcp',
    status: 200,
    ms: 1,
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  },
  { requestId: 'd', method: 'POST', route: undefined, status: 499, ms: 86_400_000.5 },
];

/** With what is added to the lines of refusals and, if it is switched on, to all. */
const REFUSED: readonly Access[] = [
  { requestId: 'f', method: 'GET', route: '/mcp', status: 401, ms: 1, code: 'MISSING_API_KEY' },
  {
    ...{ requestId: 'g', method: 'GET', route: '/mcp', status: 429, ms: 1, traceId: 'a0'.repeat(16) },
    ...{ code: 'RATE_LIMITED', cause: 'quota requests', agent: 'b1', network: '203.0.113.7' },
  },
  {
    ...{ requestId: 'h', method: 'GET', route: undefined, status: 404, ms: 1 },
    ...{ code: 'NOT_FOUND', network: 'whatever a proxy "says"\n' },
  },
  { requestId: 'i', method: 'GET', route: '/v1/x', status: 503, ms: 1, code: 'UNAVAILABLE', cause: 'writer' },
];

/** A logger with the lines that it wrote. */
function newLogger(options: LoggerOptions = {}): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  return { logger: pino(options, { write: (line) => lines.push(line) }), lines };
}

const refusedBy = (cause: RefusedBy | Part | undefined) =>
  cause === undefined ? {} : { refusedBy: cause as RefusedBy };

/** Writes every request in both ways, with the clock stopped, and asserts that the lines are the same. */
function assertSameLines(logger: Logger, lines: string[], expectedLines = REQUESTS.length): void {
  mock.timers.enable({ apis: ['Date'], now: Date.UTC(2030, 0, 2, 3, 4, 5, 6) });
  try {
    const write = accessLog(logger);
    for (const { requestId, method, route, status, ms, traceId } of REQUESTS)
      write({ requestId, method, route, status, ms, traceId });
    const own = lines.splice(0);
    for (const request of REQUESTS) logger.info(request, 'request');
    assert.deepEqual(own, lines);
    assert.equal(own.length, expectedLines);
  } finally {
    mock.timers.reset();
  }
}

describe('the access-log line', () => {
  it('equals the line that pino writes, with a route and without', () => {
    const { logger, lines } = newLogger();
    assertSameLines(logger, lines);
    assert.match(lines[0]!, /^\{"level":30,"time":1893553445006,"pid":\d+,"hostname":"[^"]*","requestId":/);
    assert.match(lines[0]!, /"route":"\/docs","status":200,"ms":0,"msg":"request"\}\n$/);
    assert.doesNotMatch(lines[3]!, /route/);
  });

  it('has the bindings of a child logger and of its parents', () => {
    const { logger, lines } = newLogger();
    const child = logger.child({ node: 'a "quoted" name', shard: 3 });
    assertSameLines(child, lines);
    assert.match(lines[0]!, /"node":"a \\"quoted\\" name","shard":3,"requestId":/);
    lines.length = 0;
    assertSameLines(child.child({ nested: { list: [1, null] } }), lines);
    assert.match(lines[0]!, /"shard":3,"nested":\{"list":\[1,null\]\},"requestId":/);
  });

  it('has no bindings if the logger has none', () => {
    const { logger, lines } = newLogger({ base: null });
    assertSameLines(logger, lines);
    assert.match(lines[0]!, /^\{"level":30,"time":\d+,"requestId":/);
  });

  for (const [name, timestamp] of [...Object.entries(stdTimeFunctions), ['none', false]] as const) {
    if (name === 'isoTimeNano') continue; // its clock cannot be stopped
    it(`has the timestamp of the logger: ${name}`, () => {
      const { logger, lines } = newLogger({ timestamp });
      assertSameLines(logger, lines);
    });
  }

  for (const level of ['trace', 'debug', 'info']) {
    it(`is written at level ${level}`, () => {
      const { logger, lines } = newLogger({ level });
      assertSameLines(logger, lines);
    });
  }

  for (const level of ['warn', 'error', 'fatal', 'silent']) {
    it(`is not written at level ${level}`, () => {
      const { logger, lines } = newLogger({ level });
      assertSameLines(logger, lines, 0);
    });
  }

  it('has the code and the cause of a refusal', () => {
    const { logger, lines } = newLogger({ timestamp: false });
    const write = accessLog(logger);
    for (const { requestId, method, route, status, ms, traceId, code, cause, agent, network } of REFUSED) {
      const refusal = new AppError(code!, '', cause === 'writer' ? { part: cause } : refusedBy(cause));
      const client = { agentId: agent, network: network! };
      write({ requestId, method, route, status, ms, traceId, refusal, client });
    }
    const own = lines.splice(0);
    for (const { agent: _, network: __, ...line } of REFUSED) logger.info(line, 'request');
    assert.deepEqual(own, lines);
  });

  it('has the agent and the network if that is switched on, whatever a proxy sends as an address', () => {
    const { logger, lines } = newLogger({ timestamp: false });
    const write = accessLog(logger, true);
    for (const { requestId, method, route, status, ms, traceId, code, cause, agent, network } of REFUSED) {
      const refusal = new AppError(code!, '', cause === 'writer' ? { part: cause } : refusedBy(cause));
      const client = network === undefined ? undefined : { agentId: agent, network };
      write({ requestId, method, route, status, ms, traceId, refusal, client });
    }
    const own = lines.splice(0);
    for (const line of REFUSED) logger.info(line, 'request');
    assert.deepEqual(own, lines);
  });

  it('is written at level debug for probes, and not at all at level info', () => {
    for (const [level, expected] of [
      ['info', []],
      ['debug', [20, 20, 20]],
    ] as const) {
      const { logger, lines } = newLogger({ level });
      const write = accessLog(logger);
      for (const route of ['/health', '/live', '/ready'])
        write({ requestId: 'a', method: 'GET', route, status: 503, ms: 1 });
      assert.deepEqual(
        lines.map((line) => JSON.parse(line).level),
        expected,
      );
    }
  });

  it('has the milliseconds rounded to one decimal place', () => {
    const { logger, lines } = newLogger({ base: null, timestamp: false });
    const write = accessLog(logger);
    const rounded: [ms: number, expected: number][] = [
      [0.04, 0],
      [0.05, 0.1],
      [1.24999, 1.2],
      [999.96, 1000],
      [12_345.678, 12_345.7],
    ];
    for (const [ms] of rounded) write({ requestId: 'a', method: 'GET', route: '/docs', status: 200, ms });
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).ms),
      rounded.map(([, expected]) => expected),
    );
  });
});
