import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goldenWarehouse } from '../golden-warehouse.ts';
import { freshFolder } from '../scratch.ts';

/** A small warehouse of the sandbox whose transactions lack the masterchain blocks 1010:1019. */
export function warehouseWithHole(): Promise<string> {
  return goldenWarehouse(['transactions', '1000:1009'], ['transactions', '1020:1029'], ['blocks', '1010:1019']);
}

export const FRONT = '---\ntitle: A report\ndoc: For a test.\n---\n';

/** Writes a report into a folder of its own. @returns the folder */
export function writeReport(text: string): string {
  const folder = join(freshFolder(), 'mine');
  mkdirSync(folder);
  writeFileSync(join(folder, 'report.md'), text);
  return folder;
}

/** A report with one select, shown as a table. */
export function tableReport(sql: string, front = FRONT): string {
  return writeReport(`${front}\n\`\`\`sql shown\n${sql}\n\`\`\`\n\n\`\`\`table shown\ntitle: Rows\n\`\`\`\n`);
}
