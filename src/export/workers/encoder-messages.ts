import type { MessagePort } from 'node:worker_threads';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch, Vector } from '../../decode/batch.ts';
import type { FileForm, FolderState } from '../../warehouse/staging/row-folder.ts';

/** A batch as a message between threads; its columns are those of the declared table. */
export interface WireBatch {
  readonly table: string;
  readonly rows: number;
  readonly vectors: readonly Omit<Vector, 'column'>[];
}

/** A call to the encoder: of the main thread, or of a worker at a port of its own. */
export type EncoderCall =
  /** Calls come over this port, too. */
  | { readonly kind: 'connect'; readonly port: MessagePort }
  /** The tables of the batches that will come over the port of this call. */
  | { readonly kind: 'declare'; readonly pipeline: PipelineDef }
  /** Answered with a {@link WriteReply} when the rows are written. */
  | {
      readonly kind: 'write';
      readonly folder: string;
      readonly form: FileForm;
      readonly startsPart: boolean;
      readonly batches: readonly WireBatch[];
      readonly memory: readonly ArrayBuffer[];
    }
  /** Answered with the list of files. */
  | { readonly kind: 'finish'; readonly folder: string }
  | { readonly kind: 'discard'; readonly folder: string };

/** `memory` is that of the batches. */
export interface WriteReply {
  readonly memory: readonly ArrayBuffer[];
  readonly state: FolderState;
}

export function wireBatch({ table, rows, vectors }: Batch): WireBatch {
  return {
    table: table.name,
    rows,
    vectors: vectors.map(({ nullCount, validity, offsets, values }) => ({ nullCount, validity, offsets, values })),
  };
}

/** The memory of batches. */
export function memoryOf(batches: readonly Batch[]): readonly ArrayBuffer[] {
  const memory = new Set<ArrayBufferLike>();
  for (const { vectors } of batches) {
    for (const { validity, offsets, values } of vectors) {
      for (const part of [validity, offsets, values]) if (part !== undefined) memory.add(part.buffer);
    }
  }
  return [...memory] as ArrayBuffer[];
}
