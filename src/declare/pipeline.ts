import { decorations } from '../api/endpoint.ts';
import { declaredEndpoint } from '../api/endpoints.ts';
import type { Span } from '../core/span.ts';
import type { CrossCheck } from './cross-check.ts';
import { viewsOfReadings } from './reading-views.ts';
import { type LeftOut, type TableDef, TableDraft } from './table.ts';
import type { MasterchainWalk, Proof, WalkDef } from './walk.ts';

/** A walk over one endpoint that feeds one or more tables. */
export interface PipelineDef {
  readonly name: string;
  readonly doc: string;
  /** Method and path, for example `GET /blocks`. */
  readonly endpoint: string;
  /** Parameters sent with every request; a list repeats the parameter. */
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
  readonly walk: WalkDef;
  /** Pipelines that must export the range first. */
  readonly needs: readonly string[];
  /** Pipelines whose rows it is compared with before a commit, if the warehouse has them; in a run they come first. */
  readonly provenBy: readonly string[];
  /** How the rows are compared with other tables; undefined for no comparison. */
  readonly crossCheck?: CrossCheck | undefined;
  /** Keys of the response that are not stored, for example `address_book`. */
  readonly ignore: readonly string[];
  /** Increased by each change after which older files can no longer be read. */
  readonly version: number;
  readonly tables: readonly TableDef[];
  /** An example query on one line; undefined for none. */
  readonly example?: string | undefined;
  /** Columns that a selection leaves out; undefined for none. */
  readonly leftOut?: LeftOut | undefined;
}

/** Options of a pipeline. By default it is of version 1 and ignores `address_book` and `metadata`. */
export interface PipelineOptions
  extends Pick<PipelineDef, 'name' | 'doc' | 'walk' | 'crossCheck' | 'example'>,
    Partial<Pick<PipelineDef, 'parameters' | 'needs' | 'provenBy' | 'ignore' | 'version'>> {
  readonly endpoint: `${'GET' | 'POST'} /${string}`;
  readonly tables: readonly (TableDef | TableDraft)[];
}

/**
 * Declares a pipeline; the default export of a file in `pipelines/`.
 *
 * @throws {UsageError} for an unknown endpoint, or a column for a field that its record does not have
 */
export function pipeline<const Walk extends WalkDef>(
  options: PipelineOptions & { readonly walk: Walk },
): PipelineDef & { readonly walk: Walk } {
  return {
    parameters: {},
    needs: [],
    provenBy: [],
    ignore: decorations,
    version: 1,
    ...options,
    tables: options.tables.map((declared) => {
      const table = declared instanceof TableDraft ? rowsOf(options.endpoint, declared) : declared;
      return { ...table, views: [...viewsOfReadings(options.walk, table), ...table.views] };
    }),
  };
}

function rowsOf(endpoint: string, draft: TableDraft): TableDef {
  return draft.of(endpoint, declaredEndpoint(endpoint).answer);
}

export type PipelineOf<Walk extends WalkDef> = PipelineDef & { readonly walk: Walk };

/** A pipeline whose rows are proven by block headers. */
export type MasterchainPipeline = PipelineOf<MasterchainWalk>;

export function isMasterchain(pipeline: PipelineDef): pipeline is MasterchainPipeline {
  return pipeline.walk.kind === 'masterchain';
}

/** How a pipeline's rows are proven by headers; undefined if they are not. */
export function proofOf({ walk }: PipelineDef): Proof | undefined {
  return walk.kind === 'masterchain' ? walk.proof : undefined;
}

/** True if the rows of a pipeline belong to masterchain blocks. Others are readings of a moment. */
export function coversBlocks({ walk }: PipelineDef): boolean {
  return !['snapshot', 'lookup', 'ephemeral'].includes(walk.kind);
}

/** True for a list of the current state of the network, which belongs to no block. */
export function isOfNow({ walk }: PipelineDef): boolean {
  return walk.kind === 'snapshot' && walk.parents === undefined;
}

/** True for pending data, which `tonlake follow --pending` reads and `run` does not. */
export function isEphemeral({ walk }: PipelineDef): boolean {
  return walk.kind === 'ephemeral';
}

/** How many blocks rows may still change after theirs; 0 if they never do, and for changing lists. */
export function lookBackOf({ walk }: Pick<PipelineDef, 'walk'>): number {
  return 'lookBack' in walk ? walk.lookBack : 0;
}

/**
 * True if rows can no longer change, given the latest block when they were read. Without `asOf` they are final; otherwise they are
 * if they are at least `lookBack` blocks behind it.
 */
export function isFinal(
  walk: PipelineDef['walk'],
  read: { readonly span: Span; readonly asOf?: Span | undefined },
): boolean {
  if (read.asOf === undefined) return true;
  return 'lookBack' in walk && read.span.to <= read.asOf.from - walk.lookBack;
}
