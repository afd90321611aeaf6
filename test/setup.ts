import { afterAll } from 'vitest';
// The flags of V8 that the command line sets.
import '../src/cli/v8-flags.ts';
import { cleanUp } from './scratch.ts';

// Setup files run anew for each test file, also where files share a process.
afterAll(cleanUp);
