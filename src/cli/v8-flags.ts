import { setFlagsFromString } from 'node:v8';

// Must be imported first: marking that has started cannot be stopped, and memory that has grown is not returned.

// Response bodies are outside the heap of V8, and arrive so fast that V8 would mark its whole heap incrementally about a hundred times
// per million rows: an eighth of all CPU time, for little garbage. Without incremental marking, it marks when bodies reach 64 MB.
setFlagsFromString('--no-incremental-marking');

// Other objects are small and short-lived. Their space would grow to 32 MB, or 128 MB from Node 24 on, without faster collections; a
// factor of 1 keeps its size.
setFlagsFromString('--semi-space-growth-factor=1');

// How much bytecode a function runs before it is optimized. With the default of Node 20, 135,168, the compiler takes a quarter of the
// CPU time of a short run, which ends before that pays off; long runs take the same time either way. Later versions have an
// intermediate compiler and no such flag.
if (Number.parseInt(process.versions.v8, 10) < 12) setFlagsFromString('--interrupt-budget=500000');

/**
 * For commands with many short-lived rows in the heap of V8, which otherwise piles up hundreds of megabytes of garbage, and for those that
 * run for ever.
 */
export function collectInSteps(): void {
  setFlagsFromString('--incremental-marking');
}

/**
 * Limits the heap of a process that exports, before it does: heap growth before a garbage collection, in per cent of the live objects. The
 * default of V8 is several times higher, and costs a hundred megabytes in a long run; this value costs a few per cent of the time of this
 * thread.
 */
export function limitHeap(): void {
  setFlagsFromString('--heap-growing-percent=40');
}
