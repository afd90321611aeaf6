import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch, Vector } from '../../decode/batch.ts';
import type { FileForm } from '../../warehouse/staging/row-folder.ts';

/** A batch as a message between threads; its columns are those of the declared table. */
export interface WireBatch {
  readonly table: string;
  readonly rows: number;
  readonly vectors: readonly Omit<Vector, 'column'>[];
}

/** A call of a worker to its encoder. */
export type EncoderCall =
  | { readonly kind: 'declare'; readonly pipeline: PipelineDef }
  /** Answered with `memory`, that of the batches, when they are written. */
  | {
      readonly kind: 'write';
      readonly folder: string;
      readonly form: FileForm;
      readonly batches: readonly WireBatch[];
      readonly memory: readonly ArrayBuffer[];
    }
  /** Answered with the list of files. */
  | { readonly kind: 'finish'; readonly folder: string; readonly form: FileForm }
  | { readonly kind: 'discard'; readonly folder: string };

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
