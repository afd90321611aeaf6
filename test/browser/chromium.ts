import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import '../programs.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The installed browser: `$CHROMIUM`, or the first of its names in PATH; undefined where there is none. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env['CHROMIUM'] ?? '', ...paths].find((path) => path !== '' && isExecutable(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** How long a page may take to show something: a busy machine takes longer than the 30 seconds of Playwright. */
export const PATIENCE_MS = 200_000;

/** Starts it; root may not have the sandbox of the browser. */
export async function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}
