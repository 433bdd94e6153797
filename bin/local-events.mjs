#!/usr/bin/env node
// Entry point: checks the Node version, then starts src/main.ts. Plain JavaScript that any Node can parse.
import process from 'node:process';

const NEEDED = 26;
const major = Number(process.versions.node.split('.')[0]);

if (major < NEEDED) {
  console.error(
    `local-events needs Node ${NEEDED} or newer; this is Node ${process.versions.node}.\n` +
      'In a clone, run "npm ci" and use the npm scripts, which bring their own Node:\n' +
      '  npm ci && npm start\n' +
      '  npm run cli -- --help',
  );
  process.exitCode = 1;
} else {
  await import('../src/main.ts');
}
