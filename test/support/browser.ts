// A real Chromium for tests of pages.
import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../../scripts/machine.ts';

/** Starts the installed Chromium. It sends no requests of its own. `hosts` resolve to this machine. */
export function launchBrowser(hosts: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath)
    throw new Error('Chromium is missing: run the tests with "npm test", which says what to do.');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // No other host is looked up.
      `--host-resolver-rules=${[
        ...hosts.map((host) => `MAP ${host} 127.0.0.1`),
        'MAP * ~NOTFOUND',
        'EXCLUDE 127.0.0.1',
        'EXCLUDE localhost',
      ].join(', ')}`,
    ],
  });
}
