// Runs the jobs of a test run: several at once, then one by one those that must run alone, and at last what failed once more.
// What a job is, and what is printed about it, is decided elsewhere.
import { type JobResult, printResult, type Unstable } from './test-report.ts';

export interface Job {
  readonly run: () => Promise<JobResult>;
  /** The job that runs only the file with this number. Without it, a failure is final. */
  readonly only?: (file: number) => Job;
}

interface Ran {
  readonly job: Job;
  readonly result: JobResult;
}

/** So many failed files are no accident: running them again would only take time. */
const MAX_AGAIN = 20;

/** Runs the jobs, `atOnce` at a time, then those in `alone`, and then once more, one at a time, the files that failed. */
export async function runAll(
  jobs: readonly Job[],
  alone: readonly Job[],
  atOnce: number,
): Promise<{ results: JobResult[]; unstable: Unstable[] }> {
  const ran: Ran[] = [];
  let waiting = [...jobs];
  const work = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) ran.push({ job, result: await runOne(job) });
  };
  const workers = Array.from({ length: atOnce }, work);
  await Promise.allSettled(workers); // otherwise the checks would go on after an error
  await Promise.all(workers);
  waiting = [...alone];
  await work();
  return runAgain(ran);
}

async function runOne(job: Job): Promise<JobResult> {
  const result = await job.run();
  printResult(result);
  return result;
}

/** A test can fail because the machine was busy. What fails with nothing beside it is a fault. */
async function runAgain(ran: readonly Ran[]): Promise<{ results: JobResult[]; unstable: Unstable[] }> {
  const split = ran.map(splitFailed);
  const results = split.flatMap(({ kept }) => kept);
  const failed = split.flatMap((part) => part.failed);
  const unstable: Unstable[] = [];
  if (failed.length > MAX_AGAIN) return { results: ran.map(({ result }) => result), unstable };
  if (failed.length > 0) console.log('\nOnce more, one at a time, what failed:');
  for (const { job, result: first } of failed) {
    const result = await runOne(job);
    results.push(result);
    if (result.failures.length === 0) unstable.push({ title: result.title, failures: first.failures });
  }
  return { results, unstable };
}

/** Divides a result into what is final and what runs again: the files that failed, or all of them if their process did. */
function splitFailed({ job, result }: Ran): { kept: JobResult[]; failed: Ran[] } {
  const { only } = job;
  if (result.failures.length === 0 || only === undefined) return { kept: [result], failed: [] };
  const ofParts = result.parts.flatMap(({ failures }) => failures);
  if (ofParts.length < result.failures.length) return { kept: [], failed: [{ job, result }] };
  const asResults = result.parts.map((part): JobResult => ({ ...part, parts: [part] }));
  return {
    kept: asResults.filter(({ failures }) => failures.length === 0),
    failed: asResults.flatMap((part, file) =>
      part.failures.length > 0 ? [{ job: only(file), result: part }] : [],
    ),
  };
}
