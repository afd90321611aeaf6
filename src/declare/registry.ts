import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { choicesFor, unknownName } from '../core/did-you-mean.ts';
import { UsageError, usage } from '../core/errors.ts';
import { lookupsTable } from '../decode/lookups-table.ts';
import { quarantineTable } from '../decode/quarantine-table.ts';
import { checkNames, checkPipeline, checkWalks, isWalkCode } from './check-declaration.ts';
import { checkCases, checkOwnNames } from './own-names.ts';
import { isEphemeral, type PipelineDef } from './pipeline.ts';
import { ROLES, type RoleName } from './roles.ts';
import type { TableDef } from './table.ts';
import { followPending, type WalkCode } from './walk.ts';

/** The table that plays a role, and its pipeline. */
export interface RoleTable {
  readonly pipeline: PipelineDef;
  readonly table: TableDef;
}

/** All known pipelines, sorted by name. */
export class Registry {
  readonly pipelines: readonly PipelineDef[];
  /** Names of pipelines that are not shipped with tonlake. */
  readonly own: ReadonlySet<string>;

  /** Folder they were loaded from; undefined for none. */
  readonly folder: string | undefined;

  /** Code of the walk kinds that the folder defines. */
  readonly walks: readonly WalkCode[];

  constructor(
    pipelines: readonly PipelineDef[],
    own: Iterable<string> = [],
    folder?: string,
    walks: readonly WalkCode[] = [],
  ) {
    this.pipelines = [...pipelines].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.own = new Set(own);
    this.folder = folder;
    this.walks = walks;
  }

  /**
   * Adds pipelines whose rows a warehouse has. Pipelines that they need may no longer exist.
   *
   * @throws {UsageError} for duplicate names of pipelines, tables or views
   */
  with(pipelines: readonly PipelineDef[]): Registry {
    if (pipelines.length === 0) return this;
    const names = new Set([...this.pipelines, ...pipelines].map(({ name }) => name));
    const added = pipelines.map((pipeline) => ({
      ...pipeline,
      needs: pipeline.needs.filter((name) => names.has(name)),
      provenBy: pipeline.provenBy.filter((name) => names.has(name)),
    }));
    const all = [...this.pipelines, ...added];
    checkNames(all);
    return new Registry(all, [...this.own, ...added.map(({ name }) => name)], this.folder, this.walks);
  }

  /** The tables of all pipelines, `lookups` and `quarantine`. */
  get tables(): readonly TableDef[] {
    return [...this.pipelines.flatMap((pipeline) => pipeline.tables), lookupsTable, quarantineTable];
  }

  /** The table of a relation: the table itself, or the one it is a view of. */
  tableOf(relation: string): TableDef | undefined {
    return this.tables.find(({ name, views }) => name === relation || views.some((view) => view.name === relation));
  }

  /** The table that plays a role. @throws {UsageError} if there is none */
  playing(role: RoleName): RoleTable {
    for (const pipeline of this.pipelines) {
      const table = pipeline.tables.find(({ plays }) => plays === role);
      if (table !== undefined) return { pipeline, table };
    }
    throw usage(`a table that plays ${role} (${ROLES[role].grain})`, 'none', 'also load the built-in pipelines');
  }

  /** @throws {UsageError} with the nearest name as hint */
  pipeline(name: string): PipelineDef {
    const found = this.pipelines.find((candidate) => candidate.name === name);
    if (found !== undefined) return found;
    const writer = this.writerOf(this.tableOf(name)?.name);
    if (writer === undefined) throw unknownName('a pipeline', name, namesOf(this.pipelines), 'unknown-pipeline');
    throw usage('a pipeline', `the table ${name}`, `did you mean ${writer.name}? It writes ${name}`, {
      code: 'unknown-pipeline',
    });
  }

  /** The pipeline that writes a table; undefined if none does. */
  writerOf(table: string | undefined): PipelineDef | undefined {
    return this.pipelines.find(({ tables }) => tables.some(({ name }) => name === table));
  }

  /** @throws {UsageError} with the nearest name as hint */
  table(name: string): TableDef {
    const found = this.tables.find((candidate) => candidate.name === name);
    if (found !== undefined) return found;
    const tables = namesOf(this.tables);
    const views = this.tables.flatMap((candidate) => namesOf(candidate.views));
    throw usage('a table', JSON.stringify(name), choicesFor(name, tables, views), { code: 'unknown-table' });
  }

  /** Names of all pipelines that `run` can export. */
  get lasting(): readonly string[] {
    return this.pipelines.filter((pipeline) => !isEphemeral(pipeline)).map(({ name }) => name);
  }

  /**
   * The pipelines that a run exports, in the order of `inOrder`.
   *
   * @throws {UsageError} for an unknown pipeline, or one that can only be watched
   */
  toRun(names: readonly string[]): readonly PipelineDef[] {
    if (!Array.isArray(names) || names.length === 0) {
      throw usage('names of pipelines', 'none', "pipelines: ['transactions']");
    }
    const ordered = this.inOrder(names);
    const watched = ordered.find(isEphemeral);
    if (watched !== undefined) throw ephemeral(watched.name);
    return ordered;
  }

  /** The named pipelines and all that they need, each after those that it needs or that prove it. */
  inOrder(names: readonly string[]): readonly PipelineDef[] {
    const wanted = new Set<string>();
    const want = (name: string): void => {
      if (wanted.has(name)) return;
      wanted.add(name);
      this.pipeline(name).needs.forEach(want);
    };
    names.forEach(want);
    const ordered = new Set<PipelineDef>();
    const visit = (name: string): void => {
      const pipeline = this.pipeline(name);
      if (ordered.has(pipeline)) return;
      pipeline.needs.forEach(visit);
      for (const other of pipeline.provenBy) if (wanted.has(other)) visit(other);
      ordered.add(pipeline);
    };
    names.forEach(visit);
    return [...ordered];
  }
}

function namesOf(named: readonly { readonly name: string }[]): readonly string[] {
  return named.map(({ name }) => name);
}

function ephemeral(name: string): UsageError {
  return usage('a pipeline with a history', `${name}, which only has pending data`, followPending());
}

const shipped = new URL('../../pipelines/', import.meta.url);
/** By folder; the empty name stands for the shipped pipelines. */
const loaded = new Map<string, Promise<Registry>>();

/**
 * Loads the shipped pipelines and those of a folder, in which each `NAME.js` (or `NAME.ts`, if Node can read it) exports one pipeline or
 * walk kind. A folder is read once.
 *
 * @param folder default `TONLAKE_PIPELINES`, if set
 * @throws {UsageError} for an invalid declaration or a name that is taken
 */
export function loadRegistry(folder: string | URL | undefined = process.env['TONLAKE_PIPELINES']): Promise<Registry> {
  const path =
    folder === undefined || folder === '' ? '' : folder instanceof URL ? fileURLToPath(folder) : resolve(folder);
  const known = loaded.get(path);
  if (known !== undefined) return known;
  const registry = path === '' ? loadShipped() : loadBeside(path);
  loaded.set(path, registry);
  registry.catch(() => loaded.delete(path));
  return registry;
}

async function loadShipped(): Promise<Registry> {
  const { pipelines, walks } = await readFolder(fileURLToPath(shipped));
  checkNames(pipelines);
  checkWalks(pipelines, walks);
  return new Registry(pipelines, [], undefined, walks);
}

async function loadBeside(folder: string): Promise<Registry> {
  const [builtIn, { pipelines: own, walks: ownWalks }] = await Promise.all([loadRegistry(''), readFolder(folder)]);
  const { pipelines } = builtIn;
  const walks = [...builtIn.walks, ...ownWalks];
  const names = own.map(({ name }) => name);
  const taken = names.find((name) => pipelines.some((pipeline) => pipeline.name === name));
  if (taken !== undefined) {
    throw usage('a name that no built-in pipeline has', taken, 'rename it and its tables', { of: folder });
  }
  const all = [...pipelines, ...own];
  checkNames(all);
  checkCases(all);
  checkWalks(own, walks);
  return new Registry(all, names, folder, walks);
}

/** Not declarations of types, tests and settings, such as `own.d.ts`, `own.test.ts` and `vitest.config.js`. */
const MODULE = /^[^.]+\.m?[jt]s$/;

/** What the files of a folder export: pipelines, and walk kinds. */
async function readFolder(folder: string) {
  const found = await readdir(folder).catch((error: unknown) => {
    throw usage('a folder of pipelines', folder, undefined, { cause: error });
  });
  const files = found.filter((file) => MODULE.test(file)).sort();
  const pipelines: PipelineDef[] = [];
  const walks: WalkCode[] = [];
  const exported = await Promise.all(files.map((file) => importPipeline(join(folder, file))));
  for (const [at, { default: value }] of exported.entries()) {
    const file = files[at] ?? '';
    if (isWalkCode(file, value)) walks.push(value);
    else {
      checkPipeline(file, value);
      checkOwnNames(file, value);
      pipelines.push(value);
    }
  }
  return { pipelines, walks };
}

async function importPipeline(path: string): Promise<{ readonly default?: unknown }> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const of = basename(path);
    if (error instanceof UsageError) throw error.with({ of: error.of ?? of });
    throw usage('a pipeline', String(error).split('\n')[0], hintFor(path, String(error)), { of, cause: error });
  }
}

function hintFor(path: string, fault: string): string {
  if (fault.includes('Cannot use import statement outside a module'))
    return `rename it to ${basename(path, '.js')}.mjs, or set "type": "module" in package.json`;
  return fault.includes('tonlake') ? 'npm install tonlake, in the folder or above it' : `node ${path} shows where`;
}
