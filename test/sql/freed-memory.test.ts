import { expect, test, vi } from 'vitest';
import { returnFreedMemory, trimLargeProcess } from '../../src/sql/freed-memory.ts';

const { glibcVersionRuntime } = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header;

/** Pieces that the C library takes from its heap, and a few among them that stay in use. */
function takePieces(count: number): readonly Uint8Array[] {
  const pieces = Array.from({ length: count }, () => new Uint8Array(100_000).fill(1));
  return pieces.filter((_, at) => at % 20 === 0);
}

// 350 MB, so that the process is large in any case.
const PIECES = 3_500;

test.skipIf(glibcVersionRuntime === undefined).each([returnFreedMemory, trimLargeProcess])(
  'garbage between pieces in use returns to the system (%o)',
  async (giveBack) => {
    const kept = takePieces(PIECES);
    const full = process.memoryUsage.rss();
    const isReturned = async (): Promise<boolean> => {
      await giveBack();
      return process.memoryUsage.rss() < full - 200e6;
    };
    await vi.waitUntil(isReturned, { timeout: 200_000 });
    expect(kept).toHaveLength(PIECES / 20);
  },
);
