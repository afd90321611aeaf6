import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Effects } from '../../core/effects.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import { Decoder } from '../../decode/decoder.ts';
import { RowFolder } from '../../warehouse/staging/row-folder.ts';

/** Size and time of sample pages. */
export interface Measured {
  readonly rows: number;
  /** Bytes of Parquet for each further row, in all tables. */
  readonly bytesPerRow: number;
  /** Bytes of files without rows. */
  readonly fixedBytes: number;
  /** Seconds of this machine, in one thread. */
  readonly seconds: number;
}

export const NOTHING: Measured = { rows: 0, bytesPerRow: 0, fixedBytes: 0, seconds: 0 };

/** Values of requests; they do not affect size or time. */
const GIVEN = { read_at: 0n, as_of: 0n, seqno: 0n };

/** Decodes pages and writes them like a run, to a temporary folder. The first pass warms up the code. */
export async function measurePages(
  pipeline: PipelineDef,
  bodies: readonly Uint8Array[],
  effects: Effects,
): Promise<Measured> {
  if (bodies.length === 0) return NOTHING;
  const half = await writePages(pipeline, bodies, 0.5);
  const startedAt = effects.monotonic();
  const whole = await writePages(pipeline, bodies, 1);
  const seconds = (effects.monotonic() - startedAt) / 1000;
  const { rows } = whole;
  // Large files compress better than small ones, so only the second half counts.
  const bytesPerRow = rows === half.rows ? 0 : (whole.bytes - half.bytes) / (rows - half.rows);
  return { rows, bytesPerRow, fixedBytes: Math.max(0, whole.bytes - bytesPerRow * rows), seconds };
}

async function writePages(pipeline: PipelineDef, bodies: readonly Uint8Array[], share: number) {
  const folder = await mkdtemp(join(tmpdir(), 'tonlake-plan-'));
  try {
    const decoder = new Decoder(pipeline);
    for (const body of bodies) decoder.decode(body, GIVEN);
    const rows = Math.ceil(decoder.records * share);
    const sorted = decoder.sorted(Int32Array.from({ length: rows }, (_, row) => row));
    const writer = new RowFolder(folder, 'final');
    for (const batch of decoder.choose(sorted)) await writer.write(batch);
    let bytes = 0;
    for (const { path } of await writer.finish()) bytes += (await stat(path)).size;
    return { rows, bytes };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
