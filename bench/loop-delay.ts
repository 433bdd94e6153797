// Loaded into a measured server: on SIGUSR2, writes the event loop delay since the previous signal to a file.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Sampling interval in milliseconds. Node includes it in the delay, so it is subtracted. */
const RESOLUTION = 5;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
delay.enable();

process.on('SIGUSR2', () => {
  const p99 = Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION);
  writeFileSync(process.env.LOOP_DELAY_FILE!, JSON.stringify({ p99 }));
  delay.reset();
});
