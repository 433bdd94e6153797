// Loaded into a measured server: how late its event loop was since the last time it was asked by SIGUSR2, in a file.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds between two looks; Node counts them in, so they are taken off. */
const RESOLUTION = 5;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
delay.enable();

process.on('SIGUSR2', () => {
  const p99 = Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION);
  writeFileSync(process.env.LOOP_DELAY_FILE!, JSON.stringify({ p99 }));
  delay.reset();
});
