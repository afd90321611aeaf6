import type { Command, Option } from 'commander';
import { realEffects } from '../core/effects.ts';
import { oneLine } from '../core/errors.ts';
import type { Registry } from '../declare/registry.ts';
import { resolveNetwork } from '../http/network.ts';
import type { RetryEvent } from '../http/source.ts';
import { type ProjectOptions, readProject } from '../project/project-file.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';
import type { CommonOptions } from './common-options.ts';
import { findWarehouse, type Place, placeOf } from './find-warehouse.ts';
import { StatusLine } from './status-line.ts';

export interface ContextFlags extends CommonOptions {
  readonly json?: boolean;
}

const INTERRUPTED = 'interrupted: stopping after the current span; press Ctrl-C again to stop at once';

/** The flags, warehouse, pipelines, interrupts and output of a command, each opened on first use. */
export class Context<F extends ContextFlags = ContextFlags> {
  readonly flags: F;
  /** Names of the flags that were typed. */
  readonly given: ReadonlySet<string>;
  readonly isJson: boolean;
  /** True if the user named the warehouse. That of a project need not exist yet. */
  readonly isWarehouseGiven: boolean;
  readonly effects = realEffects;
  readonly line = new StatusLine();
  #warehouse: Promise<string> | undefined;
  #place: Promise<Place> | undefined;
  #stop: AbortController | undefined;
  #onInterrupt = (): void => {};

  /** @param project options of the project file */
  constructor(command: Command, project: ProjectOptions | undefined) {
    const flags = command.opts<F>();
    this.flags = flags;
    this.given = new Set(Object.keys(flags).filter((name) => command.getOptionValueSource(name) === 'cli'));
    this.isWarehouseGiven = flags.warehouse !== undefined && flags.warehouse !== project?.['warehouse'];
    this.isJson = flags.json === true;
  }

  /** The warehouse that the command reads. @throws {StoreError} `no-warehouse` if there are several to choose from */
  warehouse(): Promise<string> {
    this.#warehouse ??= findWarehouse(this.flags, this.line.print);
    return this.#warehouse;
  }

  /** The network and the warehouse of a command that sends requests. */
  place(): Promise<Place> {
    this.#place ??= placeOf(this.flags);
    return this.#place;
  }

  /** The pipelines of tonlake, and those of `--pipelines`. */
  async pipelines(): Promise<Registry> {
    const { loadRegistry } = await import('../declare/registry.ts');
    return loadRegistry(this.flags.pipelines);
  }

  /** Those pipelines, and the ones that wrote rows of the warehouse. */
  async registry(): Promise<Registry> {
    const [{ warehouseRegistry }, warehouse, own] = await Promise.all([
      import('../warehouse/query/warehouse-registry.ts'),
      this.warehouse(),
      this.pipelines(),
    ]);
    return warehouseRegistry(warehouse, own);
  }

  /** Opens the warehouse for reading, with those pipelines. @throws {StoreError} `other-network` */
  async openWarehouse(options: { readonly isPinned?: boolean } = {}): Promise<OpenWarehouse> {
    const [{ openWarehouse }, warehouse, registry] = await Promise.all([
      import('../warehouse/query/warehouse-registry.ts'),
      this.warehouse(),
      this.pipelines(),
    ]);
    return openWarehouse(warehouse, { registry, network: this.flags.network, ...options });
  }

  /** A check that a warehouse has the network of `--network`. @throws {StoreError} `other-network` */
  async networkCheck(): Promise<(opened: { readonly path: string; readonly network: string }) => void> {
    const { requireSameNetwork } = await import('../warehouse/query/warehouse-registry.ts');
    return ({ path, network }) => requireSameNetwork(path, network, this.flags.network);
  }

  /** Aborted by the first SIGINT or SIGTERM; the second ends the process. Committed rows are kept in both cases. */
  get signal(): AbortSignal {
    return this.interruptedBy(() => this.line.print(INTERRUPTED));
  }

  /** Like `signal`, but calls `atFirst` instead of printing a message. */
  interruptedBy(atFirst: () => void): AbortSignal {
    if (this.#stop !== undefined) return this.#stop.signal;
    const stop = new AbortController();
    this.#stop = stop;
    this.#onInterrupt = () => {
      if (stop.signal.aborted) process.exit(130);
      stop.abort();
      atFirst();
    };
    process.on('SIGINT', this.#onInterrupt).on('SIGTERM', this.#onInterrupt);
    return stop.signal;
  }

  /** Resolves at the first interrupt. */
  untilInterrupted(): Promise<void> {
    return new Promise((resolve) => this.interruptedBy(resolve));
  }

  /** Prints a value to standard output: a line of JSON with --json, otherwise text. */
  readonly print = <T>(value: T, textOf: (value: T) => string): void => {
    this.write(this.isJson ? `${JSON.stringify(value)}\n` : textOf(value));
  };

  /** Writes text to standard output unchanged. */
  readonly write = (text: string): void => {
    this.line.clear();
    process.stdout.write(text);
  };

  readonly warn = (message: string): void => this.line.print(`warning: ${message}`);

  readonly printRetry = ({ message, sleepMs }: RetryEvent): void =>
    this.line.print(`${oneLine(message)}; retrying in ${(sleepMs / 1000).toFixed(1)} s`);

  close(): void {
    this.line.end();
    process.off('SIGINT', this.#onInterrupt).off('SIGTERM', this.#onInterrupt);
  }
}

/** The action of a command: `work` gets a context with its flags, and its arguments. */
export function inContext<F extends ContextFlags, A extends readonly unknown[]>(
  work: (context: Context<F>, ...words: A) => Promise<void> | void,
): (this: Command) => Promise<void> {
  return async function (this: Command): Promise<void> {
    const project = applyProject(this);
    const context = new Context<F>(this, project);
    try {
      await Reflect.apply(work, undefined, [context, ...this.processedArgs]);
    } finally {
      context.close();
    }
  };
}

/**
 * Sets options from `tonlake.yaml` that neither a flag nor the environment sets. The network, the warehouse and the
 * witness of a project belong together: a command for another network, or another warehouse, gets none of them.
 *
 * @returns the options of the file; undefined without a project
 */
function applyProject(command: Command): ProjectOptions | undefined {
  const project = usesProject(command) ? readProject() : undefined;
  if (project === undefined) return undefined;
  const isElsewhere = isForOtherPlace(command, project);
  for (const option of command.options) {
    const name = option.attributeName();
    const value = project[name];
    const isOfPlace = ['network', 'warehouse', 'witness'].includes(name);
    if (value === undefined || isGiven(command, name) || (isOfPlace && isElsewhere) || !accepts(command, option))
      continue;
    command.setOptionValueWithSource(name, value, 'project');
    if (name === 's3Endpoint') process.env['AWS_ENDPOINT_URL_S3'] = String(value);
  }
  return project;
}

/** True for commands that read or write a warehouse, or send requests. Those of a job file have their own. */
function usesProject(command: Command): boolean {
  return command.options.some(({ long }) => long === '--network' || long === '--s3-endpoint');
}

function isGiven(command: Command, name: string): boolean {
  return ['cli', 'env'].includes(command.getOptionValueSource(name) ?? '');
}

function isForOtherPlace(command: Command, { network }: ProjectOptions): boolean {
  const given = isGiven(command, 'network') ? command.getOptionValue('network') : process.env['TONLAKE_NETWORK'];
  const isOther = given !== undefined && given !== '' && nameOf(String(given)) !== nameOf(String(network ?? 'mainnet'));
  return isOther || isGiven(command, 'warehouse');
}

function nameOf(network: string): string {
  return resolveNetwork(network).name;
}

/** False for another option of the same name, and for the catalog if the command does not publish. */
function accepts(command: Command, option: Option): boolean {
  const name = option.attributeName();
  if (name === 'marts') return option.flags.includes('<folder>');
  const isOfCatalog = ['catalog', 'namespace', 'catalogWarehouse'].includes(name);
  const publishes = command.options.some((other) => other.attributeName() === 'publish');
  return !isOfCatalog || !publishes || command.getOptionValue('publish') !== undefined;
}
