// A small file system in memory, for disks that are really full.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './service.ts';

/** Its folder, unmounted after the test; undefined where mounting is forbidden, as in most containers. */
export function mountSmallDisk(t: TestContext, kilobytes: number): string | undefined {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch {
    t.diagnostic('A small disk cannot be mounted here: /dev/full stands for it.');
    return undefined;
  }
  // Lazily: a process that uses it may still be ending.
  t.after(() => execFileSync('umount', ['--lazy', folder]));
  return folder;
}

/** Fills the disk to the last byte. Returns the path of the file that does, to be deleted. */
export function fillDisk(folder: string): string {
  const path = join(folder, 'filler');
  for (let bytes = 1_048_576; bytes >= 1; bytes = Math.floor(bytes / 2)) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(bytes), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  return path;
}
