import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { choicesFor } from '../core/did-you-mean.ts';
import { usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { shippedFolder, shippedNames, shownPath } from '../sql/shipped-queries.ts';
import { parseReport, readFront } from './parse-report.ts';
import type { FrontMatter, ReportDef } from './report-definition.ts';

const FILE = 'report.md';

/** The front matter of a report. */
export interface ReportListing extends FrontMatter {
  readonly name: string;
}

/** The reports that come with tonlake, with their front matter. */
export async function listReports(): Promise<readonly ReportListing[]> {
  const names = await shippedNames('reports');
  return Promise.all(
    names.map(async (name) => {
      const path = join(shippedFolder('reports'), name, FILE);
      return { name, ...readFront(await readFile(path, 'utf8'), shownPath(path)).front };
    }),
  );
}

/** True if a report is given by its path, not by the name of a shipped one. */
export function isReportPath(report: string): boolean {
  return /[/\\]/.test(report) || report.endsWith('.md');
}

/** The file of a report, given its folder or file. */
export function reportFile(path: string): string {
  return path.endsWith('.md') ? path : join(path, FILE);
}

/**
 * Reads a report: a shipped one by name, any other by the path of its folder (with a `report.md`) or file.
 * @throws {UsageError} `unknown-report`
 */
export async function openReport(report: string): Promise<ReportDef> {
  const isPath = isReportPath(report);
  const names = await shippedNames('reports');
  if (!isPath && !names.includes(report)) {
    throw usage(
      'a report',
      JSON.stringify(report),
      `${choicesFor(report, names)}; your own are paths, such as ./${report}`,
      { code: 'unknown-report' },
    );
  }
  const path = reportFile(isPath ? report : join(shippedFolder('reports'), report));
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw usage(
      'a report',
      `${path}, which cannot be read`,
      `${suggest('report', '--list')} shows the built-in reports`,
      { code: 'unknown-report', cause },
    );
  });
  const name = basename(path) === FILE ? basename(dirname(resolve(path))) : basename(path, '.md');
  return parseReport(text, isPath ? name : report, shownPath(path));
}
