import { setFlagsFromString } from 'node:v8';

// It has to be the first thing that is imported: marking that has begun cannot be left, and memory that has grown stays.

// Bodies lie outside of V8's heap, and arrive so fast that V8 would mark its whole heap, step by step, some hundred times in a
// million rows: an eighth of all work, for little garbage. Without steps it marks when the bodies come to 64 MB.
setFlagsFromString('--no-incremental-marking');

// What is made beside the bodies is small and short-lived. The room for it would grow to 32 MB, from Node 24 on to 128 MB, in which
// nothing is collected any faster; a factor of 1 leaves it as it is.
setFlagsFromString('--semi-space-growth-factor=1');

// How much bytecode a function runs before it is compiled to fast code. By Node 20's own 135,168 that compiler takes a quarter of
// all CPU of a short run, which ends before it has paid; a long run takes the same either way. Later versions have a middle
// compiler and no such flag.
if (Number.parseInt(process.versions.v8, 10) < 12) setFlagsFromString('--interrupt-budget=500000');

/** For a command that makes values of many rows in V8's heap, and keeps none: without steps hundreds of megabytes of them would wait. */
export function collectInSteps(): void {
  setFlagsFromString('--incremental-marking');
}
