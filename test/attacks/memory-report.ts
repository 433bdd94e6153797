// Loaded into the attacked process with --import: on SIGUSR2, collects garbage and writes the memory that is still in use
// to MEMORY_FILE. Needs --expose-gc.
import { renameSync, writeFileSync } from 'node:fs';

const file = process.env.MEMORY_FILE!;

process.on('SIGUSR2', () => {
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  // Renamed, so that a reader never sees half of it.
  writeFileSync(`${file}.part`, JSON.stringify({ heapUsed, external }));
  renameSync(`${file}.part`, file);
});
