import type { TableDef } from './table.ts';

/** The order of requests of a pipeline. */
export type WalkDef =
  /** One masterchain block after the other; `seqno` is the parameter's name. */
  { readonly kind: 'masterchain'; readonly seqno: string; readonly proof: Proof };

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

/** A walk that asks for each masterchain block by itself. */
export function masterchain(options: { readonly seqno: string; readonly proof: Proof }): WalkDef {
  return { kind: 'masterchain', ...options };
}
