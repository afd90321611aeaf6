import { setFlagsFromString } from 'node:v8';

// Bodies lie outside of V8's heap, and arrive so fast that V8 would mark its whole heap, step by step, some hundred times in a
// million rows: an eighth of all work, for little garbage. Without steps it marks when the bodies come to 64 MB. It has to be the
// first thing that is imported: marking that has begun cannot be left.
setFlagsFromString('--no-incremental-marking');
