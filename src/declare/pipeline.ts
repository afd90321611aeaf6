import type { Span } from '../core/span.ts';
import type { CrossCheck } from './cross-check.ts';
import { viewsOfReadings } from './reading-views.ts';
import type { LeftOut, TableDef } from './table.ts';
import type { MasterchainWalk, Proof, WalkDef } from './walk.ts';

/** One declared walk of one endpoint that feeds one or more tables. */
export interface PipelineDef {
  readonly name: string;
  readonly doc: string;
  /** Method and path, for example `GET /blocks`. */
  readonly endpoint: string;
  /** Parameters sent with every request; a list repeats its name. */
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
  readonly walk: WalkDef;
  /** Pipelines whose tables must hold the range first. */
  readonly needs: readonly string[];
  /** Pipelines whose rows it is compared with before a commit, where the warehouse holds them: in one run it comes after them. */
  readonly provenBy: readonly string[];
  /** How rows of a list are compared with other tables; undefined where nothing tells of them. */
  readonly crossCheck?: CrossCheck | undefined;
  /** Keys of the envelope that are decoration and not kept, for example `address_book`. */
  readonly ignore: readonly string[];
  /** Grows with every change of the tables that older files cannot be read with. */
  readonly version: number;
  readonly tables: readonly TableDef[];
  /** A query that shows what the tables hold, on one line; undefined for none. */
  readonly example?: string | undefined;
  /** What a selection leaves out of the tables; undefined for nothing. */
  readonly leftOut?: LeftOut | undefined;
}

export interface PipelineOptions {
  readonly name: string;
  readonly doc: string;
  readonly endpoint: `${'GET' | 'POST'} /${string}`;
  readonly parameters?: Readonly<Record<string, string | readonly string[]>>;
  readonly walk: WalkDef;
  readonly needs?: readonly string[];
  readonly provenBy?: readonly string[];
  readonly crossCheck?: CrossCheck;
  readonly ignore?: readonly string[];
  readonly version?: number;
  readonly tables: readonly TableDef[];
  readonly example?: string;
}

/** Declares a pipeline; a file in `pipelines/` exports one as default. */
export function pipeline<const Walk extends WalkDef>(
  options: PipelineOptions & { readonly walk: Walk },
): PipelineDef & { readonly walk: Walk } {
  return {
    parameters: {},
    needs: [],
    provenBy: [],
    ignore: [],
    version: 1,
    ...options,
    tables: options.tables.map((table) => ({
      ...table,
      views: [...viewsOfReadings(options.walk, table), ...table.views],
    })),
  };
}

export type PipelineOf<Walk extends WalkDef> = PipelineDef & { readonly walk: Walk };

/** A pipeline that is proven by the headers of blocks. */
export type MasterchainPipeline = PipelineOf<MasterchainWalk>;

export function isMasterchain(pipeline: PipelineDef): pipeline is MasterchainPipeline {
  return pipeline.walk.kind === 'masterchain';
}

/** How a pipeline's rows are proven by headers; undefined where they are not. */
export function proofOf({ walk }: PipelineDef): Proof | undefined {
  return walk.kind === 'masterchain' ? walk.proof : undefined;
}

/** True if the rows of a pipeline belong to masterchain blocks. Others are readings of a moment. */
export function coversBlocks({ walk }: PipelineDef): boolean {
  return !['snapshot', 'lookup', 'ephemeral'].includes(walk.kind);
}

/** A pipeline whose rows are those of a moment: `tonlake watch` reads it, and no run. */
export function isEphemeral({ walk }: PipelineDef): boolean {
  return walk.kind === 'ephemeral';
}

/**
 * Whether rows of a walk over blocks cannot change any more, by the newest block when they were read. Lists of other kinds are
 * never final, and rows that were read without a look back always are.
 */
export function isFinal(
  walk: PipelineDef['walk'],
  read: { readonly span: Span; readonly asOf?: Span | undefined },
): boolean {
  if (read.asOf === undefined) return true;
  return 'lookBack' in walk && read.span.to <= read.asOf.from - walk.lookBack;
}
