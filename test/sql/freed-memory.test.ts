import { expect, test, vi } from 'vitest';
import { returnFreedMemory } from '../../src/sql/freed-memory.ts';

const { glibcVersionRuntime } = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header;

/** Pieces that the C library takes from its heap, and a few among them that stay in use. */
function takePieces(count: number): readonly Uint8Array[] {
  const pieces = Array.from({ length: count }, () => new Uint8Array(100_000).fill(1));
  return pieces.filter((_, at) => at % 20 === 0);
}

test.skipIf(glibcVersionRuntime === undefined)('garbage between pieces in use returns to the system', async () => {
  const kept = takePieces(1_500);
  const full = process.memoryUsage.rss();
  const isReturned = async (): Promise<boolean> => {
    await returnFreedMemory();
    return process.memoryUsage.rss() < full - 100e6;
  };
  await vi.waitUntil(isReturned, { timeout: 200_000 });
  expect(kept).toHaveLength(75);
});
