// What a start on a data folder would find. Changes nothing, also while a service uses the folder.
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StartError } from '../../domain/errors.ts';
import type { Finding, TimeSource } from '../../domain/finding.ts';
import { BYTES_PER_MB } from '../../domain/store.ts';
import { readDatabase } from '../connection.ts';
import { floorOf, measureDisk, usableBytesOf } from '../free-disk.ts';
import { readMissing } from '../migrate.ts';
import { freeBytesIn, Reader, requireFinishedMove } from '../reader.ts';
import { databasePath, isLocked, requireIntact, requireSpace } from './data-folder.ts';
import { readSummary } from './summary.ts';

/** `checkClock` returns what is wrong with the clock. */
export async function inspectFolder(
  folder: string,
  minFreeBytes: number | undefined,
  checkClock: (source: TimeSource) => Promise<string | undefined>,
): Promise<Finding[]> {
  const path = databasePath(folder);
  const findings: Finding[] = [];
  /** Adds what the check returns, or the error that it throws. Returns whether it returned. */
  const add = async (about: Finding['about'], check: () => Promise<Omit<Finding, 'about'>>) => {
    try {
      findings.push({ about, ...(await check()) });
      return true;
    } catch (error) {
      findings.push({ about, kind: 'problem', text: describe(error as Error, path) });
      return false;
    }
  };
  const hasData = existsSync(path) && statSync(path).size > 0;
  let reusableBytes = 0;
  if (!hasData) {
    const isNew = await add('database', async () => {
      requireIntact(folder);
      return { kind: 'note', text: `There is no data in ${folder} yet. A start creates it.` };
    });
    const text = 'There is nothing yet to compare the clock with.';
    if (isNew) findings.push({ about: 'clock', kind: 'note', text });
  } else {
    let isUsable = false;
    try {
      findings.push({ about: 'schema', ...readDatabase(path, describeSchema)! });
      isUsable = await add('database', async () => {
        requireFinishedMove(path);
        const { events, agents } = readDatabase(path, (database) => {
          reusableBytes = freeBytesIn(database);
          return readSummary(database);
        })!;
        const use = isLocked(folder) ? 'A service uses it now.' : 'No service uses it now.';
        return { kind: 'ok', text: `${path} has ${events} events and ${agents} agents. ${use}` };
      });
    } catch (error) {
      const about = error instanceof StartError ? 'schema' : 'database';
      findings.push({ about, kind: 'problem', text: describe(error as Error, path) });
    }
    if (isUsable) await add('clock', () => describeClock(path, checkClock));
  }
  await add('disk', () => describeDisk(folder, minFreeBytes, reusableBytes));
  return findings;
}

function describeSchema(database: DatabaseSync): Omit<Finding, 'about'> {
  const { version, missing } = readMissing(database);
  if (missing.length === 0) return { kind: 'ok', text: `Schema ${version}: a start migrates nothing.` };
  return {
    kind: 'note',
    text: `Schema ${version}: a start applies ${missing.join(', ')}. After that, older versions cannot use the data.`,
  };
}

async function describeClock(
  path: string,
  check: (source: TimeSource) => Promise<string | undefined>,
): Promise<Omit<Finding, 'about'>> {
  const reader = new Reader(path);
  try {
    const problem = await check({
      findSetting: async (name) => reader.findSetting(name),
      referenceTime: async () => ({ of: 'newest write', ms: reader.newestWriteMs() }),
    });
    return problem === undefined
      ? { kind: 'ok', text: 'The clock agrees with the last run and the newest write.' }
      : { kind: 'problem', text: problem };
  } finally {
    reader.close();
  }
}

async function describeDisk(
  folder: string,
  minFreeBytes: number | undefined,
  reusableBytes: number,
): Promise<Omit<Finding, 'about'>> {
  let place = folder;
  while (!existsSync(place)) place = dirname(place);
  requireSpace(place);
  const space = await measureDisk(place, async () => reusableBytes);
  const inMb = (bytes: number) => Math.floor(bytes / BYTES_PER_MB);
  const floorBytes = floorOf(space, minFreeBytes);
  const free = `${inMb(space.freeBytes)} MB are free on the disk of ${folder}`;
  if (usableBytesOf(space) >= floorBytes) return { kind: 'ok', text: `${free}.` };
  return {
    kind: 'problem',
    text:
      `Only ${free}, and ${inMb(reusableBytes)} MB in the database. Creates, changes and registrations are refused below ` +
      `${inMb(floorBytes)} MB (MIN_FREE_DISK_MB). Free some space.`,
  };
}

function describe(error: Error, path: string): string {
  if (error instanceof StartError) return error.message;
  const { message } = error.cause instanceof Error ? error.cause : error;
  return `${path} cannot be read: ${message}.`;
}
