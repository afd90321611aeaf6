import { chmodSync, writeFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stateDirectory } from '../../core/environment.ts';
import { FUNCTION_NAMES, KEYWORDS, relationColumns } from '../../marts/relation-columns.ts';
import type { Queries } from '../../warehouse/query/query.ts';
import { declaredIn, describeName } from '../describe-name.ts';
import type { KnownNames } from './completion.ts';
import { dotCommands, TABLES } from './dot-commands.ts';
import { runShell, type ShellOptions } from './shell.ts';

/** Less: chops long lines, keeps colors, ends if all fits, and leaves the text on the screen. */
const PAGER = 'less -SRFX';

/** True if a person types statements and sees the results. */
export function isPrompt(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Opens the shell on the standard streams. @returns false if a statement of a script failed */
export async function openShell(
  warehouse: string,
  { queries, params, mode }: Pick<ShellOptions, 'queries' | 'params' | 'mode'>,
): Promise<boolean> {
  const isInteractive = isPrompt();
  const file = join(stateDirectory(process.env), 'shell-history');
  if (isInteractive) await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(() => {});
  return runShell({
    warehouse,
    queries,
    params,
    mode,
    isInteractive,
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
    pager: process.env['PAGER'] ?? PAGER,
    history: isInteractive ? await readHistory(file) : [],
    onHistory: (lines) => writeHistory(file, lines),
    names: (queries) => namesIn(warehouse, queries),
    describe: async (name) => describeName(name, await declaredIn(warehouse)),
  });
}

async function readHistory(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** A history that cannot be written is no error. */
function writeHistory(file: string, lines: readonly string[]): void {
  try {
    writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
    chmodSync(file, 0o600);
  } catch {}
}

async function namesIn(warehouse: string, queries: Queries): Promise<KnownNames> {
  const { registry, built } = await declaredIn(warehouse);
  const columns = await relationColumns(registry, built);
  const keywords = await textsOf(queries, KEYWORDS);
  const functions = await textsOf(queries, FUNCTION_NAMES);
  const tables = [...columns.keys()];
  return {
    columns,
    keywords,
    functions: functions.map((name) => `${name}(`),
    commands: new Map(
      [...dotCommands].map(([name, { words = [] }]) => [name, words.includes(TABLES) ? tables : words]),
    ),
  };
}

async function textsOf(queries: Queries, select: string): Promise<readonly string[]> {
  return queries.read(select, async ({ chunks }) => {
    const found: string[] = [];
    for await (const rows of chunks()) found.push(...rows.map(([name]) => String(name)));
    return found;
  });
}
