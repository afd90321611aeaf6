import type { DamagedStore } from '../warehouse/index.ts';
import { FIRSTS, findBad, setHeaders, TIPS } from './audit-scope.ts';
import { type Finding, groupBad } from './finding.ts';

/**
 * Proves the headers of the runs: no gaps between masterchain blocks, no duplicates, every link inside a run leads to a listed
 * block, and no block is outside the chains. A link may leave a run only at the start of a shard's chain, where no earlier listed
 * block covers the same addresses. Time and logical time never go back from a block to the one that follows it.
 *
 * @param what the pipeline and table of the headers, for findings
 * @returns the findings, and how many links leave the runs
 */
export async function auditHeaders(
  warehouse: DamagedStore,
  what: Pick<Finding, 'pipeline' | 'table'>,
): Promise<{ readonly findings: readonly Finding[]; readonly linksBefore: number }> {
  await setHeaders(warehouse);
  const gaps = await findBad(
    warehouse,
    `SELECT [mc] AS blame, concat('masterchain block ', mc, ' in its own list') AS expected, 'none' AS got
     FROM (SELECT unnest(range(run_from, run_to + 1)) AS mc FROM runs) wanted
     WHERE NOT EXISTS (FROM headers h WHERE h.mc = wanted.mc AND h.workchain = -1 AND h.seqno = wanted.mc)`,
  );
  const twice = await findBad(
    warehouse,
    `SELECT list(mc) AS blame, concat('block ', block_name(workchain, shard, seqno), ' once') AS expected,
       concat(count(*), ' times') AS got FROM headers GROUP BY workchain, shard, seqno HAVING count(*) > 1`,
  );
  await warehouse.database.run(`CREATE OR REPLACE TEMP TABLE outside AS SELECT l.*, h.lo, h.hi FROM links l
    JOIN headers h ON h.run = l.run AND h.workchain = l.workchain AND h.shard = l.shard AND h.seqno = l.seqno
    WHERE NOT EXISTS (FROM headers p WHERE p.run = l.run AND p.workchain = l.prev_workchain AND p.shard = l.prev_shard
      AND p.seqno = l.prev_seqno)`);
  const missing = await findBad(
    warehouse,
    `SELECT range(max(older.mc), o.mc + 1) AS blame,
       concat('block ', block_name(o.prev_workchain, o.prev_shard, o.prev_seqno), ' that another one follows') AS expected,
       'none' AS got
     FROM (SELECT *, unsigned_shard(prev_shard) AS u FROM outside) o
     JOIN headers older ON older.run = o.run AND older.workchain = o.prev_workchain AND older.seqno <= o.prev_seqno
       AND older.lo <= o.u + (o.u & -o.u) - 1 AND older.hi >= o.u - (o.u & -o.u)
     GROUP BY o.mc, o.prev_workchain, o.prev_shard, o.prev_seqno`,
  );
  const unlinked = await findBad(
    warehouse,
    `SELECT [h.mc] AS blame, 'a reference to the block before' AS expected,
       concat('none in block ', block_name(h.workchain, h.shard, h.seqno)) AS got
     FROM headers h ANTI JOIN links l ON l.run = h.run AND l.workchain = h.workchain AND l.shard = h.shard AND l.seqno = h.seqno
     WHERE h.seqno > 0`,
  );
  const stray = await findBad(
    warehouse,
    `SELECT [t.mc, min(newer.mc)] AS blame, 'linked blocks only' AS expected,
       concat('block ', block_name(t.workchain, t.shard, t.seqno)) AS got
     FROM ${TIPS} t JOIN headers newer ON newer.run = t.run AND newer.workchain = t.workchain AND newer.seqno > t.seqno
       AND newer.lo <= t.hi AND newer.hi >= t.lo GROUP BY t.mc, t.workchain, t.shard, t.seqno`,
  );
  const order = await findBad(
    warehouse,
    `SELECT [p.mc, h.mc] AS blame,
       concat('block ', block_name(h.workchain, h.shard, h.seqno), ' after ', block_name(p.workchain, p.shard, p.seqno)) AS expected,
       CASE WHEN h.gen_utime < p.gen_utime THEN concat('time ', h.gen_utime, ' before ', p.gen_utime)
         ELSE concat('logical time ', h.start_lt, ' before ', p.end_lt) END AS got
     FROM links l
     JOIN headers h ON h.run = l.run AND h.workchain = l.workchain AND h.shard = l.shard AND h.seqno = l.seqno
     JOIN headers p ON p.run = l.run AND p.workchain = l.prev_workchain AND p.shard = l.prev_shard AND p.seqno = l.prev_seqno
     WHERE h.gen_utime < p.gen_utime OR h.start_lt < p.end_lt`,
  );
  const { rows } = await warehouse.database.query('SELECT count(*)::INTEGER FROM outside');
  return {
    findings: [
      ...groupBad({ ...what, kind: 'block-missing' }, [...gaps, ...missing, ...unlinked]),
      ...groupBad({ ...what, kind: 'block-twice' }, twice),
      ...groupBad({ ...what, kind: 'block-stray' }, stray),
      ...groupBad({ ...what, kind: 'block-order' }, order),
    ],
    linksBefore: Number(rows[0]?.[0] ?? 0),
  };
}

/** Creates `sure`: for each run and workchain, the range of logical times whose transactions are all inside the run. */
export async function setSureTimes(warehouse: DamagedStore): Promise<void> {
  const whole = 'sum(hi - lo + 1) = 18446744073709551616';
  await warehouse.database.run(`CREATE OR REPLACE TEMP TABLE sure AS
    SELECT f.run, f.workchain, f.lt AS lt_from, t.lt AS lt_to
    FROM (SELECT run, workchain, max(start_lt) AS lt FROM ${FIRSTS} GROUP BY ALL HAVING ${whole}) f
    JOIN (SELECT run, workchain, min(end_lt) AS lt FROM ${TIPS} GROUP BY ALL HAVING ${whole}) t USING (run, workchain)
    WHERE f.lt <= t.lt`);
}
