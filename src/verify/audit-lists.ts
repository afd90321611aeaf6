import type { ListComparison } from '../audit/list-faults.ts';
import type { Span } from '../core/span.ts';
import { ROLES, type RoleName } from '../declare/roles.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { DamagedStore } from '../warehouse/index.ts';
import { EVERYTHING, findBad, setHeaders, setRuns, TIPS } from './audit-scope.ts';
import { type Finding, groupBad } from './finding.ts';

/** Blocks of a list that can be compared. `heldFrom`: first block from which on the warehouse has all transactions. */
export interface JudgedRun extends Span {
  readonly storedFrom: number;
}

/** Result of the comparison of a list. */
export interface ListAudit {
  readonly findings: readonly Finding[];
  /** Rows that contradict later transactions. They are findings only if the list will not be fetched again. */
  readonly outdated: readonly Finding[];
}

/** Compares a list with the transactions of the blocks that both have. The views of all tables must exist. */
export async function auditList(
  warehouse: DamagedStore,
  { pipeline, faults }: ListComparison,
  table: string,
  runs: readonly JudgedRun[],
): Promise<ListAudit> {
  await setRuns(warehouse, runs);
  await setHeaders(warehouse);
  await setWindows(warehouse, runs);
  const relation = (role: RoleName): string => ROLES[role].relation;
  const sql = faults({ own: `FROM ${quoteName(table)}`, judged: 'FROM judged', near: relation, since: relation });
  await warehouse.database.run(`CREATE OR REPLACE TEMP TABLE list_faults AS FROM (${sql})`);
  const find = async (kinds: string): Promise<readonly Finding[]> =>
    groupBad(
      { kind: 'list', pipeline, table },
      await findBad(warehouse, `SELECT [seqno] AS blame, expected, got FROM list_faults WHERE kind IN (${kinds})`),
    );
  return { findings: await find("'missing', 'wrong'"), outdated: await find("'outdated'") };
}

/**
 * Creates `judged`: the runs, each with the logical times that a window walk must have covered completely: from the start of its first
 * masterchain block to the smallest end of the newest blocks. Null if those blocks do not cover every address.
 */
async function setWindows({ database }: DamagedStore, runs: readonly JudgedRun[]): Promise<void> {
  const since = runs.map(({ from, storedFrom }) => `(${from}, ${storedFrom})`).join(', ');
  await database.run(`CREATE OR REPLACE TEMP TABLE judged AS
    SELECT run_from, run_to, stored_from, first, low, high FROM runs
    JOIN (VALUES ${since}) AS since(run_from, stored_from) USING (run_from)
    LEFT JOIN (SELECT run, min(start_lt) AS first, min(start_lt) FILTER (workchain = -1 AND mc = run_from) AS low
      FROM headers JOIN runs USING (run) GROUP BY run) USING (run)
    LEFT JOIN (SELECT run, min(end_lt) AS high FROM ${TIPS} tips GROUP BY run
      HAVING sum(CASE WHEN workchain = 0 THEN hi - lo + 1 ELSE 0 END) = ${EVERYTHING}
        AND bool_or(workchain = -1)) USING (run)`);
}
