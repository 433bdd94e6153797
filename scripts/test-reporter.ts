// Reports a test run: a line a file, every failure in full, and how many passed and failed.
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures: string[] = [];
  let passed = 0;
  for await (const { type, data } of events) {
    if (type === 'test:pass' && data.details.type !== 'suite') passed++;
    if (type === 'test:fail' && data.details.type !== 'suite') failures.push(describe(data));
    if (type === 'test:stderr') yield data.message;
    if (type === 'test:summary' && data.file !== undefined) {
      const { counts, duration_ms, file } = data;
      const seconds = (duration_ms / 1000).toFixed(1).padStart(5);
      const mark = counts.passed === counts.tests ? 'ok  ' : 'FAIL';
      yield `${mark} ${seconds} s ${String(counts.tests).padStart(5)} tests  ${relative(process.cwd(), file)}\n`;
    }
  }
  for (const failure of failures) yield `\n${failure}\n`;
  yield `\n${passed} passed, ${failures.length} failed\n`;
}

function describe({ name, file, line, details }: Extract<TestEvent, { type: 'test:fail' }>['data']): string {
  const { error } = details;
  return `FAIL ${name}\n  at ${file}:${line}\n${inspect(error.cause ?? error, { depth: 6 })}`;
}
