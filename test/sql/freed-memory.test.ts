import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { returnFreedMemory } from '../../src/sql/freed-memory.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const { glibcVersionRuntime } = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header;

/** Pieces that the C library takes from its heap, and a few among them that stay in use. */
function takePieces(count: number): readonly Uint8Array[] {
  const pieces = Array.from({ length: count }, () => new Uint8Array(100_000).fill(1));
  return pieces.filter((_, at) => at % 20 === 0);
}

test.skipIf(glibcVersionRuntime === undefined)('freed memory between pieces in use returns to the system', async () => {
  const kept = takePieces(1_500);
  const full = process.memoryUsage.rss();
  const isReturned = async (): Promise<boolean> => {
    // V8 frees what it collected in a thread of its own.
    collect();
    await returnFreedMemory();
    return process.memoryUsage.rss() < full - 100e6;
  };
  await vi.waitUntil(isReturned, { timeout: 60_000 });
  expect(kept).toHaveLength(75);
});
