import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { didYouMean } from '../core/did-you-mean.ts';
import { UsageError } from '../core/errors.ts';
import { readFront } from './front-matter.ts';
import { parseReport } from './parse-report.ts';
import type { FrontMatter, ReportDef } from './report-definition.ts';

const FILE = 'report.md';

/** The folder of the reports that come with tonlake: `sql/` lies beside `src/`, and above the compiled files. */
function shippedFolder(): string {
  const above = import.meta.url.endsWith('.ts') ? '../../' : '../../../';
  return fileURLToPath(new URL(`${above}sql/reports/`, import.meta.url));
}

/** Names of the reports that come with tonlake. */
export async function shippedReports(): Promise<readonly string[]> {
  const found = await readdir(shippedFolder(), { withFileTypes: true });
  return found
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** What a report says of itself. */
export interface ReportListing extends FrontMatter {
  readonly name: string;
}

/** The reports that come with tonlake, with their front matter. */
export async function listReports(): Promise<readonly ReportListing[]> {
  const names = await shippedReports();
  return Promise.all(
    names.map(async (name) => {
      const path = join(shippedFolder(), name, FILE);
      return { name, ...readFront(await readFile(path, 'utf8'), shown(path)).front };
    }),
  );
}

/**
 * Reads a report: one that comes with tonlake by its name, any other by the path of its folder (with a `report.md`) or file.
 * @throws {UsageError} `unknown-report`; `bad-report`
 */
export async function openReport(report: string): Promise<ReportDef> {
  const isPath = /[/\\]/.test(report) || report.endsWith('.md');
  const names = await shippedReports();
  if (!isPath && !names.includes(report)) {
    throw new UsageError(`usage: expected a report, got ${JSON.stringify(report)}`, {
      code: 'unknown-report',
      hint: `${didYouMean(report, names)}There are: ${names.join(', ')}; or give the path of a folder`,
    });
  }
  const folder = isPath ? report : join(shippedFolder(), report);
  const path = folder.endsWith('.md') ? folder : join(folder, FILE);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`usage: expected a report, cannot read ${path}`, {
      code: 'unknown-report',
      hint: 'tonlake report --list shows the built-in reports',
      cause,
    });
  });
  const name = basename(path) === FILE ? basename(dirname(resolve(path))) : basename(path, '.md');
  return parseReport(text, isPath ? name : report, shown(path));
}

function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
