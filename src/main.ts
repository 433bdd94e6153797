// The process: hands its arguments, environment and streams to the command line, and exits with the code that comes back.
import { run } from './cli/run.ts';

process.exitCode = 1; // where the process ends before the command does
run(process.argv.slice(2), process.env, process).then((code) => {
  process.exitCode = code;
});
