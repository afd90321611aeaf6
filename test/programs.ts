/** A Python with the modules that tests use; .ci/run makes one. */
export const PYTHON = process.env['TONLAKE_PYTHON'] ?? 'python3';

/** A Python with pyspark and sqlglot, which needs Java. */
export const SPARK_PYTHON = process.env['TONLAKE_SPARK_PYTHON'] ?? 'python3';
