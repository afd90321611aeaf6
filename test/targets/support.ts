import { spawnSync } from 'node:child_process';
import { PYTHON } from '../programs.ts';

/** A query with every class of value at its limits. The texts are those that programs trip over. */
export const HARD_ROWS = `
  SELECT 1 AS id, true AS yes, (-2147483648)::INTEGER AS small, 9223372036854775807::BIGINT AS large,
    18446744073709551615::UBIGINT AS word, (repeat('9', 38))::DECIMAL(38,0) AS wide, 1.5::DECIMAL(18,3) AS exact,
    0.1::DOUBLE AS near, 'tab' || chr(9) || 'line' || chr(10) || 'return' || chr(13) || 'back\\slash "quote" '' <b>&amp; ✓ 𝔗' AS words,
    unhex('00ff5c0a27') AS bytes, TIMESTAMP '2026-05-01 23:59:59.123456' AS at, DATE '2026-05-01' AS block_date, [1, NULL, 3] AS list
  UNION ALL SELECT 2, false, 2147483647, -9223372036854775808, 0, -(repeat('9', 38))::DECIMAL(38,0), -0.001, 'NaN'::DOUBLE, '',
    unhex(''), TIMESTAMP '1969-12-31 23:59:59.999', DATE '2026-05-02', []
  UNION ALL SELECT 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  UNION ALL SELECT 4, true, 0, 123456789012345, 1, 123456789012345, 2, '-inf'::DOUBLE, '=HYPERLINK("http://x/","y")', unhex('e2'),
    TIMESTAMP '2026-05-01 00:00:00', DATE '2026-05-01', [4]
  UNION ALL SELECT 5, true, 0, 0, 1, 0, 0, 1e300, '\\N', unhex('5c'), TIMESTAMP '1900-01-01 00:00:00', DATE '1900-01-01', [5]`;

/** Runs a Python program. @returns what it printed as JSON */
export function runPython(code: string, ...args: readonly string[]): unknown {
  const { status, stdout, stderr } = spawnSync(PYTHON, ['-c', code, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
