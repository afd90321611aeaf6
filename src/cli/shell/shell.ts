import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { StoreError, TonlakeError } from '../../core/errors.ts';
import { writeTextAtomically } from '../../files/atomic-write.ts';
import { asStoreError, INTERRUPTED } from '../../files/file-failure.ts';
import { formatOf } from '../../files/output-format.ts';
import { type Parameters, unnamedParameter, usedParameters } from '../../sql/parameters.ts';
import { RELATION_FORMATS, write } from '../../sql/relation-writer.ts';
import { errorText } from '../../sql/sql-fault.ts';
import { splitStatements } from '../../sql/statements.ts';
import { boxOf, linesOf } from '../../sql/text-table.ts';
import { requireOutside } from '../../warehouse/query/copy-targets.ts';
import { openQueries, type Queries, type QueryOptions } from '../../warehouse/query/query.ts';
import { formatTiming, type QueryTiming } from '../query-timing.ts';
import { complete, type KnownNames } from './completion.ts';
import { type Mode, runDotCommand, type Settings } from './dot-commands.ts';
import { StatementBuffer } from './statement-buffer.ts';

export interface ShellOptions {
  readonly warehouse: string;
  readonly queries: Pick<QueryOptions, 'network' | 'dialect' | 'layouts' | 'strict'>;
  /** Values of parameters; each goes to the statements that name it. */
  readonly params?: QueryOptions['params'];
  /** How results are shown at first. */
  readonly mode: Mode;
  readonly input: NodeJS.ReadStream | NodeJS.ReadableStream;
  readonly output: Writable & { readonly columns?: number; readonly rows?: number };
  readonly errors: Writable;
  /** True if a person types: prompts, history, completion, a pager. A script ends at its first error instead. */
  readonly isInteractive: boolean;
  /** Earlier lines, newest first. */
  readonly history: readonly string[];
  /** Called after each entered line with all lines, newest first. */
  readonly onHistory: (lines: readonly string[]) => void;
  /** Command that shows results which are larger than the terminal. */
  readonly pager: string;
  /** Names for completion; called once. */
  readonly names: (queries: Queries) => Promise<KnownNames>;
  /** Describes a table, or lists all. */
  readonly describe: (name: string | undefined) => Promise<string>;
}

const PROMPT = 'tonlake> ';
const CONTINUATION_PROMPT = '    ...> ';
/** Interval of attempts to cancel a query, in milliseconds. */
const CANCEL_MS = 50;
/** Statements without rows to show. */
const SILENT = /^\s*(set|reset|create|drop|use|prepare|deallocate)\b/i;

/** A prompt for SQL over a warehouse. @returns false if a statement of a script failed */
export async function runShell(options: ShellOptions): Promise<boolean> {
  const shell = new Shell(options);
  try {
    return await shell.run();
  } finally {
    await shell.close();
  }
}

class Shell implements Settings {
  mode: Mode;
  hasTimer = false;
  private readonly options: ShellOptions;
  private readonly buffer: StatementBuffer;
  private readonly lines: Interface;
  private names: Promise<KnownNames> | undefined;
  /** Stays open for temporary objects, unless that would lock out writers. */
  private queries: Queries | undefined;
  private running: Queries | undefined;
  /** Number of entered lines that are not done. */
  private pendingLines = 0;
  private isCancelled = false;
  private file: WriteStream | undefined;
  private nextFile: string | undefined;
  private hasEnded = false;
  /** Parameters that no statement has named yet. */
  private readonly unnamed: Set<string>;

  constructor(options: ShellOptions) {
    this.options = options;
    const { input, output, isInteractive, history, mode } = options;
    this.mode = mode;
    this.buffer = new StatementBuffer({ keepsLines: !isInteractive });
    this.unnamed = new Set(Object.keys(options.params ?? {}));
    this.lines = createInterface({
      input,
      terminal: isInteractive,
      ...(isInteractive ? { output, history: [...history], historySize: 1000, removeHistoryDuplicates: true } : {}),
      completer: (line: string, found: (error: null, result: [string[], string]) => void) => {
        void this.complete(line).then((result) => found(null, result));
      },
    });
    this.lines.on('line', () => void this.pendingLines++);
    this.lines.on('SIGINT', () => this.interrupt());
    this.lines.on('history', (entered: string[]) => options.onHistory(entered));
  }

  async run(): Promise<boolean> {
    this.prompt();
    for await (const line of this.lines) {
      const isDone = await this.enter(line);
      this.pendingLines--;
      if (!isDone && !this.options.isInteractive) return false;
      if (this.hasEnded) return true;
      this.prompt();
    }
    const rest = this.buffer.take();
    if (this.options.isInteractive) await this.print('\n');
    return (await this.attempt(() => this.execute(rest))) && (await this.attempt(() => this.requireNamed()));
  }

  /** @throws {UsageError} for a parameter that no statement names */
  private async requireNamed(): Promise<void> {
    for (const name of this.unnamed) throw unnamedParameter(name);
  }

  async close(): Promise<void> {
    this.lines.close();
    await this.outputTo(undefined);
    await this.queries?.close();
  }

  end(): void {
    this.hasEnded = true;
  }

  describe(name: string | undefined): Promise<string> {
    return this.options.describe(name);
  }

  /** Text for the user, or for the file of `.output`. */
  async print(text: string): Promise<void> {
    const { file } = this;
    if (file === undefined) await write(this.options.output, text);
    else await this.toFile(file, () => write(file, text));
  }

  async outputTo(path: string | undefined): Promise<void> {
    const { file } = this;
    this.file = undefined;
    if (file !== undefined) await this.toFile(file, () => finished(file.end()));
    if (path === undefined) return;
    await requireOutside(this.options.warehouse, path);
    const opened = createWriteStream(path);
    // The next write or the end reports the error.
    opened.on('error', () => undefined);
    await this.toFile(opened, () => once(opened, 'open'));
    this.file = opened;
  }

  /** After a failure of the file, later results are printed. */
  private async toFile(file: WriteStream, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof TonlakeError) throw error;
      if (this.file === file) this.file = undefined;
      file.destroy();
      throw asStoreError(error, `file ${String(file.path)}`, '--output');
    }
  }

  async writeNextTo(path: string): Promise<void> {
    await requireOutside(this.options.warehouse, path);
    formatOf({ output: path, format: undefined, formats: ['box', ...RELATION_FORMATS] });
    this.nextFile = path;
  }

  private prompt(): void {
    if (!this.options.isInteractive) return;
    this.lines.setPrompt(this.buffer.isEmpty ? PROMPT : CONTINUATION_PROMPT);
    this.lines.prompt();
  }

  /** @returns false if a statement of the line failed */
  private async enter(line: string): Promise<boolean> {
    if (this.buffer.isEmpty && /^\s*\./.test(line)) {
      this.buffer.passLine();
      return this.attempt(() => runDotCommand(line, this));
    }
    for (const statement of this.buffer.add(line)) {
      if (!(await this.attempt(() => this.execute(statement)))) return false;
    }
    return true;
  }

  private async attempt(work: () => Promise<void>): Promise<boolean> {
    // An interruption between two statements of DuckDB has no effect.
    const repeat = setInterval(() => this.isCancelled && this.running?.interrupt(), CANCEL_MS);
    try {
      await work();
      return true;
    } catch (error) {
      const isCancelled = error instanceof StoreError && error.code === INTERRUPTED;
      await write(this.options.errors, isCancelled ? 'cancelled\n' : errorText(error));
      return false;
    } finally {
      clearInterval(repeat);
      this.isCancelled = false;
    }
  }

  private async execute(statement: string): Promise<void> {
    if (splitStatements(statement).length === 0) return;
    const startedAt = performance.now();
    const queries = this.queries ?? (await this.open());
    this.running = queries;
    let traffic: QueryTiming['traffic'];
    try {
      await this.executeWith(queries, statement);
    } finally {
      this.running = undefined;
      traffic = await queries.traffic?.();
      if (queries.blocksWriters) await queries.close();
      else this.queries = queries;
    }
    const timing = { startedAt, now: performance.now(), traffic };
    if (this.hasTimer) await write(this.options.errors, `${formatTiming(timing, this.mode)}\n`);
  }

  private open(): Promise<Queries> {
    const { warehouse, queries, errors, isInteractive } = this.options;
    return openQueries(warehouse, {
      ...queries,
      file: isInteractive ? undefined : 'stdin',
      countsTraffic: true,
      onWarning: (gap) => void errors.write(`warning: ${gap}\n`),
    });
  }

  private async executeWith(queries: Queries, statement: string): Promise<void> {
    const { nextFile, mode } = this;
    const params = this.paramsOf(statement);
    this.nextFile = undefined;
    if (nextFile !== undefined) {
      const format = formatOf({ output: nextFile, format: undefined, formats: ['box', ...RELATION_FORMATS] }) ?? 'box';
      if (format === 'box') await writeTextAtomically(nextFile, await queries.read(statement, boxOf, params));
      else await queries.write(statement, { file: nextFile, format }, params);
    } else if (SILENT.test(statement))
      await queries.read(statement, async ({ countRest }) => void (await countRest()), params);
    else if (mode === 'csv' || mode === 'json' || mode === 'jsonl') {
      const { file } = this;
      if (file === undefined) await queries.write(statement, { out: this.options.output, format: mode }, params);
      else await this.toFile(file, () => queries.write(statement, { out: file, format: mode }, params));
    } else await this.show(await queries.read(statement, mode === 'box' ? boxOf : linesOf, params));
  }

  /** The parameters that a statement names. */
  private paramsOf(statement: string): Parameters {
    const named = usedParameters(statement, this.options.params) ?? {};
    for (const name of Object.keys(named)) this.unnamed.delete(name);
    return named;
  }

  private async show(text: string): Promise<void> {
    const { isInteractive, output, pager, input } = this.options;
    const { columns, rows } = output;
    const isShort = columns === undefined || rows === undefined || !isTooLarge(text, { columns, rows });
    if (!isInteractive || this.file !== undefined || isShort || pager === '') return this.print(text);
    this.lines.pause();
    // The pager reads keys, too.
    if ('setRawMode' in input) input.setRawMode(false);
    const isShown = await showInPager(text, pager);
    if ('setRawMode' in input) input.setRawMode(true);
    this.lines.resume();
    if (!isShown) await this.print(text);
  }

  /** Ctrl-C: cancels the query, or clears the input if none runs. */
  private interrupt(): void {
    if (this.pendingLines > 0) {
      this.isCancelled = true;
      return this.running?.interrupt();
    }
    const isEmpty = this.buffer.isEmpty && this.lines.line === '';
    this.buffer.take();
    // Clears the line.
    this.lines.write(null, { ctrl: true, name: 'e' });
    this.lines.write(null, { ctrl: true, name: 'u' });
    this.options.output.write(isEmpty ? '\n(.quit or Ctrl-D ends the shell)\n' : '\n');
    this.prompt();
  }

  private async complete(line: string): Promise<[string[], string]> {
    try {
      const queries = this.queries ?? (await this.open());
      if (!queries.blocksWriters) this.queries = queries;
      this.names ??= this.options.names(queries);
      const names = await this.names;
      if (queries.blocksWriters) await queries.close();
      return complete(line, this.buffer.text, names);
    } catch {
      this.names = undefined;
      return [[], line];
    }
  }
}

/** Size of a terminal, in characters. */
interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** True if a text is wider or longer than a screen. */
export function isTooLarge(text: string, { columns, rows }: ScreenSize): boolean {
  const lines = text.split('\n');
  return lines.length > rows || lines.some((line) => line.length > columns);
}

/**
 * Shows a text in the user's pager, which uses the terminal until it ends.
 *
 * @param command of the shell: `PAGER`, or `less -SRFX`
 * @returns false if there is no such program
 */
function showInPager(text: string, command: string): Promise<boolean> {
  return new Promise((resolve) => {
    // Ctrl-C is for the pager.
    const ignore = (): void => {};
    process.on('SIGINT', ignore);
    const pager = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'] });
    const end = (isShown: boolean): void => {
      process.off('SIGINT', ignore);
      resolve(isShown);
    };
    pager.on('error', () => end(false));
    // 127: the shell did not find the program.
    pager.on('close', (code) => end(code !== 127));
    // A pager can be left before it has read everything.
    pager.stdin.on('error', () => {});
    pager.stdin.end(text);
  });
}
