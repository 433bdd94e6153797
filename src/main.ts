// Process entry point: passes arguments, environment and streams to the command line, and sets its exit code.
import { run } from './cli/run.ts';

process.exitCode = 1; // applies if the process ends before the command does
run(process.argv.slice(2), process.env, process).then((code) => {
  process.exitCode = code;
});
