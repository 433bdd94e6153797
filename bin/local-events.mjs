#!/usr/bin/env node
// Entry point: checks the Node version, then starts src/main.ts, or lib/main.js in the npm package, which has no src/. Plain
// JavaScript that any Node can parse.
import { existsSync } from 'node:fs';
import process from 'node:process';

const NEEDED = 26;
const major = Number(process.versions.node.split('.')[0]);

if (major < NEEDED) {
  console.error(
    `local-events needs Node ${NEEDED} or newer; this is Node ${process.versions.node}.\n` +
      'Install it, or, in a clone, run "npm ci" without --omit=dev: then the npm scripts have a Node of their own:\n' +
      '  npm ci && npm start\n' +
      '  npm run cli -- --help',
  );
  process.exitCode = 1;
} else {
  // Without a listener, Node opens its debugger, by which every user of the machine could control the process.
  process.on('SIGUSR1', () => {});
  const sources = new URL('../src/main.ts', import.meta.url);
  await import(existsSync(sources) ? sources.href : '../lib/main.js');
}
