import type { TableDef } from './table.ts';

/** The order of requests of a pipeline. */
export interface WalkDef {
  readonly kind: 'masterchain';
  /** Name of the parameter that asks for the rows of one masterchain block. */
  readonly seqno: string;
  readonly proof: Proof;
  /** Another way to the same rows: by windows of logical time. */
  readonly windows: WindowsDef;
}

/** An endpoint that lists rows between `start_lt` and `end_lt`, both inclusive. */
export interface WindowsDef {
  readonly path: string;
  /**
   * `total`: rows come in a total order of logical time, so a full page is whole up to its last logical time.
   * `ties`: they do not, so a full window is halved.
   */
  readonly order: 'total' | 'ties';
}

/** How the rows of a masterchain block are proven whole: headers by their links, transactions by the headers' `tx_count`. */
export type Proof = 'links' | 'tx_count';

/** One declared walk of one endpoint that feeds one or more tables. */
export interface PipelineDef {
  readonly name: string;
  readonly doc: string;
  /** Method and path, for example `GET /blocks`. */
  readonly endpoint: string;
  /** Parameters sent with every request. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly walk: WalkDef;
  /** Pipelines whose tables must hold the range first. */
  readonly needs: readonly string[];
  /** Keys of the envelope that are decoration and not kept, for example `address_book`. */
  readonly ignore: readonly string[];
  /** Grows with every change of the tables that older files cannot be read with. */
  readonly version: number;
  readonly tables: readonly TableDef[];
}

export interface PipelineOptions {
  readonly name: string;
  readonly doc: string;
  readonly endpoint: `${'GET' | 'POST'} /${string}`;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly walk: WalkDef;
  readonly needs?: readonly string[];
  readonly ignore?: readonly string[];
  readonly version?: number;
  readonly tables: readonly TableDef[];
}

/** Declares a pipeline; a file in `pipelines/` exports one as default. */
export function pipeline(options: PipelineOptions): PipelineDef {
  return {
    parameters: {},
    needs: [],
    ignore: [],
    version: 1,
    ...options,
  };
}

/** A walk over masterchain blocks: each by itself, or many at once by windows of logical time. */
export function masterchain(options: Omit<WalkDef, 'kind'>): WalkDef {
  return { kind: 'masterchain', ...options };
}
