import { expect, test, vi } from 'vitest';
import { returnFreedMemory, trimGrownProcess } from '../../src/sql/freed-memory.ts';

const { glibcVersionRuntime } = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header;

/** Pieces that the C library takes from its heap, and a few among them that stay in use. */
function takePieces(count: number): readonly Uint8Array[] {
  const pieces = Array.from({ length: count }, () => new Uint8Array(100_000).fill(1));
  return pieces.filter((_, at) => at % 20 === 0);
}

test.skipIf(glibcVersionRuntime === undefined).each([returnFreedMemory, trimGrownProcess])(
  'garbage between pieces in use returns to the system (%o)',
  async (giveBack) => {
    const isReturned = async (): Promise<boolean> => {
      // 350 MB: more than a process has between two steps.
      const kept = takePieces(3_500);
      const full = process.memoryUsage.rss();
      await giveBack();
      expect(kept).toHaveLength(175);
      return process.memoryUsage.rss() < full - 235e6;
    };
    await vi.waitUntil(isReturned, { timeout: 200_000 });
  },
);
