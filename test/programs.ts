import { spawnSync } from 'node:child_process';

/** A Python with the modules that tests use; .ci/run makes one. */
export const PYTHON = process.env['TONLAKE_PYTHON'] ?? 'python3';

/** A Python with pyspark and sqlglot, which needs Java. */
export const SPARK_PYTHON = process.env['TONLAKE_SPARK_PYTHON'] ?? 'python3';

/** True if a Python has all these modules. They are found, not imported, which would take a second each. */
export function hasModules(modules: readonly string[], python = PYTHON): boolean {
  const find = 'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))';
  return spawnSync(python, ['-c', find, ...modules]).status === 0;
}
