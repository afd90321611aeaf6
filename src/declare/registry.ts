import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { didYouMean } from '../core/did-you-mean.ts';
import { UsageError } from '../core/errors.ts';
import { lookupsTable } from '../decode/lookups-table.ts';
import { quarantineTable } from '../decode/quarantine-table.ts';
import { checkNames, checkPipeline } from './check-declaration.ts';
import { isEphemeral, type PipelineDef } from './pipeline.ts';
import { ROLES, type RoleName } from './roles.ts';
import type { TableDef } from './table.ts';

/** A table by its role. */
export interface Played {
  readonly pipeline: PipelineDef;
  readonly table: TableDef;
}

/** All declared pipelines, by name: each file of `pipelines/` exports one. */
export class Registry {
  readonly pipelines: readonly PipelineDef[];

  constructor(pipelines: readonly PipelineDef[]) {
    this.pipelines = [...pipelines].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Every table of every pipeline, those of lookups and of the quarantine. */
  get tables(): readonly TableDef[] {
    return [...this.pipelines.flatMap((pipeline) => pipeline.tables), lookupsTable, quarantineTable];
  }

  /** The table that a relation is, or that it is a view of; undefined for other names. */
  tableOf(relation: string): TableDef | undefined {
    return this.tables.find(({ name, views }) => name === relation || views.some((view) => view.name === relation));
  }

  /**
   * The table that plays a role, and the pipeline that writes it.
   *
   * @throws {UsageError} `no-role` when none does
   */
  playing(role: RoleName): Played {
    for (const pipeline of this.pipelines) {
      const table = pipeline.tables.find(({ plays }) => plays === role);
      if (table !== undefined) return { pipeline, table };
    }
    throw new UsageError(`usage: expected a table that plays ${role} (${ROLES[role].grain}), got none`, {
      code: 'no-role',
      hint: 'load the pipelines that come with tonlake, too',
    });
  }

  /** @throws {UsageError} that names the nearest right one. */
  pipeline(name: string): PipelineDef {
    const found = this.pipelines.find((candidate) => candidate.name === name);
    if (found !== undefined) return found;
    const names = this.pipelines.map((candidate) => candidate.name);
    const table = this.tableOf(name);
    const writers = this.pipelines.filter(({ tables }) => table !== undefined && tables.includes(table));
    const [writer] = writers;
    if (writer === undefined) throw unknown('pipeline', name, names);
    throw new UsageError(`usage: expected a pipeline, got the table ${name}`, {
      code: 'unknown-pipeline',
      hint: `did you mean ${writer.name}? It writes ${name}`,
    });
  }

  /** @throws {UsageError} that names the nearest right one. */
  table(name: string): TableDef {
    const found = this.tables.find((candidate) => candidate.name === name);
    if (found !== undefined) return found;
    throw unknown(
      'table',
      name,
      this.tables.map((candidate) => candidate.name),
      this.tables.flatMap(({ views }) => views.map((view) => view.name)),
    );
  }

  /** Names of all pipelines that a run can bring in. */
  get lasting(): readonly string[] {
    return this.pipelines.filter((pipeline) => !isEphemeral(pipeline)).map(({ name }) => name);
  }

  /**
   * What a run of the named pipelines brings in, in the order of `inOrder`.
   *
   * @throws {UsageError} for an unknown pipeline, and for one that can only be watched
   */
  toRun(names: readonly string[]): readonly PipelineDef[] {
    if (!Array.isArray(names) || names.length === 0) {
      throw new UsageError('usage: expected names of pipelines, got none', {
        code: 'no-pipelines',
        hint: "pipelines: ['transactions']",
      });
    }
    const ordered = this.inOrder(names);
    const watched = ordered.find(isEphemeral);
    if (watched !== undefined) throw ephemeral(watched.name);
    return ordered;
  }

  /** The named pipelines and all that they need, each after what it needs and what proves it. */
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

function unknown(what: string, name: string, choices: readonly string[], more: readonly string[] = []): UsageError {
  return new UsageError(`usage: expected a ${what}, got ${JSON.stringify(name)}`, {
    code: `unknown-${what}`,
    hint: `${didYouMean(name, [...choices, ...more])}There are: ${choices.join(', ')}`,
  });
}

function ephemeral(name: string): UsageError {
  return new UsageError(`usage: expected a pipeline with a history, got ${name}, which is pending at a moment only`, {
    code: 'ephemeral-pipeline',
    hint: 'tonlake watch --account EQ...',
  });
}

const shipped = new URL('../../pipelines/', import.meta.url);
let shippedRegistry: Promise<Registry> | undefined;

/**
 * Loads pipelines, each from a file of its own; those that come with tonlake once.
 *
 * @param folder default: those that come with tonlake
 * @throws {UsageError} `bad-pipeline` for a declaration that cannot be used
 */
export async function loadRegistry(folder?: URL): Promise<Registry> {
  if (folder !== undefined) return readRegistry(folder);
  shippedRegistry ??= readRegistry(shipped);
  return shippedRegistry;
}

async function readRegistry(folder: URL): Promise<Registry> {
  const files = (await readdir(fileURLToPath(folder))).filter((file) => /^[a-z_]+\.(js|ts)$/.test(file)).sort();
  const pipelines = await Promise.all(
    files.map(async (file): Promise<PipelineDef> => {
      const module: { readonly default?: unknown } = await import(new URL(file, folder).href);
      const pipeline = module.default;
      checkPipeline(file, pipeline);
      return pipeline;
    }),
  );
  checkNames(pipelines);
  return new Registry(pipelines);
}
