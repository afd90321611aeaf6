import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** How long tests wait for programs that are being installed. */
const MAX_WAIT_MS = 480_000;

// .ci/run installs what tests use beyond npm while others run. Whoever looks for a program imports this module, so that it looks when the
// installs have ended.
const after = process.env['TONLAKE_TESTS_AFTER'];
while (after !== undefined && !existsSync(after) && performance.now() < MAX_WAIT_MS) await delay(100);

/** A Python with the modules that tests use; .ci/run makes one. */
export const PYTHON = process.env['TONLAKE_PYTHON'] ?? 'python3';

/** A Python with pyspark and sqlglot, which needs Java. */
export const SPARK_PYTHON = process.env['TONLAKE_SPARK_PYTHON'] ?? 'python3';
