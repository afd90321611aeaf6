import { QUIET_BLOCKS } from '../chain/shards.ts';
import type { DamagedStore } from '../warehouse/index.ts';
import { EVERYTHING, FIRSTS, findBad, setHeaders, TIPS } from './audit-scope.ts';
import { type Finding, groupBad } from './finding.ts';

/**
 * Proves the headers of the runs: no gaps between masterchain blocks, no duplicates, every link inside a run leads to a listed
 * block, and no block is outside the chains. A link may leave a run only at the start of a shard's chain, where no earlier listed
 * block covers the same addresses. Both halves of a shard follow a split, and a merge follows both; at the end of a long run there is a
 * block of every shard. Masterchain block, time and logical time never go back from a block to the one that follows it.
 *
 * @param what the pipeline and table of the headers, for findings
 * @returns the findings, and how many links leave the runs
 */
export async function auditHeaders(
  warehouse: DamagedStore,
  what: Pick<Finding, 'pipeline' | 'table'>,
): Promise<{ readonly findings: readonly Finding[]; readonly linksBefore: number }> {
  await setHeaders(warehouse);
  await setRelated(warehouse);
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
    `SELECT range(coalesce(max(older.mc), any_value(run_from)), o.mc + 1) AS blame,
       concat('block ', block_name(o.prev_workchain, o.prev_shard, o.prev_seqno), ' that another one follows') AS expected,
       'none' AS got
     FROM (SELECT *, unsigned_shard(prev_shard) AS u FROM outside) o JOIN runs ON runs.run = o.run
     LEFT JOIN headers older ON older.run = o.run AND older.workchain = o.prev_workchain AND older.seqno <= o.prev_seqno
       AND older.lo <= o.u + (o.u & -o.u) - 1 AND older.hi >= o.u - (o.u & -o.u)
     GROUP BY o.mc, o.prev_workchain, o.prev_shard, o.prev_seqno
     HAVING max(older.mc) IS NOT NULL OR o.mc - any_value(run_from) >= ${QUIET_BLOCKS}`,
  );
  const unlinked = await findBad(
    warehouse,
    `SELECT [h.mc] AS blame, 'a reference to the block before' AS expected,
       concat('none in block ', block_name(h.workchain, h.shard, h.seqno)) AS got
     FROM headers h ANTI JOIN links l ON l.run = h.run AND l.workchain = h.workchain AND l.shard = h.shard AND l.seqno = h.seqno
     WHERE h.seqno > 0
     UNION ALL
     SELECT [mc], concat('block ', block_name(workchain, shard, seqno), ' after the one before it'),
       concat('after ', string_agg(DISTINCT block_name(prev_workchain, prev_shard, prev_seqno), ' and '))
     FROM related GROUP BY run, mc, workchain, shard, seqno
     HAVING max(prev_seqno) <> seqno - 1 OR NOT bool_and(prev_workchain = workchain AND (prev_shard = shard OR is_split OR is_merge))
       OR (count(DISTINCT prev_shard) > 1 AND NOT bool_and(is_merge))`,
  );
  await warehouse.database.run(`CREATE OR REPLACE TEMP TABLE lonely AS FROM related l
    WHERE (is_merge AND NOT EXISTS (FROM related o WHERE o.run = l.run AND o.workchain = l.workchain AND o.shard = l.shard
        AND o.seqno = l.seqno AND o.prev_shard = l.sibling))
      OR (is_split AND NOT EXISTS (FROM related o WHERE o.run = l.run AND o.workchain = l.workchain AND o.shard = l.sibling
        AND o.seqno = l.seqno AND o.prev_shard = l.prev_shard AND o.prev_seqno = l.prev_seqno))`);
  // All blocks of the other half may be missing: until the merge, or from the split on.
  const halves = await findBad(
    warehouse,
    `SELECT CASE WHEN is_merge THEN range(coalesce(max(h.mc), run_from), l.mc + 1)
         ELSE range(l.mc, coalesce(min(h.mc), run_to) + 1) END AS blame,
       concat('blocks of ', l.workchain, ':', printf('%X', unsigned_shard(sibling)::UBIGINT),
         CASE WHEN is_merge THEN ' before ' ELSE ' beside ' END, block_name(l.workchain, l.shard, l.seqno)) AS expected,
       'none' AS got
     FROM lonely l JOIN runs ON runs.run = l.run LEFT JOIN headers h ON h.run = l.run AND h.workchain = l.workchain
       AND h.lo <= sibling_hi AND h.hi >= sibling_lo AND (CASE WHEN is_merge THEN h.seqno < l.seqno ELSE h.seqno > l.seqno END)
     GROUP BY l.run, run_from, run_to, l.mc, l.workchain, l.shard, l.seqno, sibling, is_merge`,
  );
  const ends = await findBad(
    warehouse,
    `SELECT [run_to] AS blame, 'a block of every shard among the last ${QUIET_BLOCKS}' AS expected, 'only some' AS got
     FROM runs WHERE run_to - run_from >= ${QUIET_BLOCKS} AND (SELECT coalesce(sum(hi - lo + 1), 0) FROM ${TIPS} t
       WHERE t.run = runs.run AND t.workchain = 0 AND run_to - t.mc < ${QUIET_BLOCKS}) <> ${EVERYTHING}`,
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
       CASE WHEN h.mc < p.mc THEN concat('masterchain block ', h.mc, ' before ', p.mc)
         WHEN h.gen_utime < p.gen_utime THEN concat('time ', h.gen_utime, ' before ', p.gen_utime)
         ELSE concat('logical time ', h.start_lt, ' before ', p.end_lt) END AS got
     FROM links l
     JOIN headers h ON h.run = l.run AND h.workchain = l.workchain AND h.shard = l.shard AND h.seqno = l.seqno
     JOIN headers p ON p.run = l.run AND p.workchain = l.prev_workchain AND p.shard = l.prev_shard AND p.seqno = l.prev_seqno
     WHERE h.mc < p.mc OR h.gen_utime < p.gen_utime OR h.start_lt < p.end_lt`,
  );
  const { rows } = await warehouse.database.query('SELECT count(*)::INTEGER FROM outside');
  return {
    findings: [
      ...groupBad({ ...what, kind: 'block-missing' }, [...gaps, ...missing, ...unlinked, ...halves, ...ends]),
      ...groupBad({ ...what, kind: 'block-twice' }, twice),
      ...groupBad({ ...what, kind: 'block-stray' }, stray),
      ...groupBad({ ...what, kind: 'block-order' }, order),
    ],
    linksBefore: Number(rows[0]?.[0] ?? 0),
  };
}

/**
 * Creates `related`: the links, with the other half of a shard that splits or is merged there, and the addresses `sibling_lo` to
 * `sibling_hi` that it covers.
 */
async function setRelated({ database }: DamagedStore): Promise<void> {
  await database.run('CREATE OR REPLACE TEMP MACRO parent_shard(u) AS (u - (u & -u)) | (2 * (u & -u))');
  await database.run(`CREATE OR REPLACE TEMP TABLE related AS
    SELECT run, mc, workchain, shard, seqno, prev_workchain, prev_shard, prev_seqno, is_split, is_merge,
      signed_shard(half) AS sibling, half - (half & -half) AS sibling_lo, half + (half & -half) - 1 AS sibling_hi
    FROM (SELECT *, CASE WHEN is_merge THEN xor(p, 2 * (p & -p)) WHEN is_split THEN xor(u, 2 * (u & -u)) END AS half
      FROM (SELECT *, p <> u AND parent_shard(u) = p AS is_split, p <> u AND parent_shard(p) = u AS is_merge
        FROM (SELECT *, unsigned_shard(shard) AS u, unsigned_shard(prev_shard) AS p FROM links)))`);
}

/** Creates `sure`: for each run and workchain, the range of logical times whose transactions are all inside the run. */
export async function setSureTimes(warehouse: DamagedStore): Promise<void> {
  const whole = `sum(hi - lo + 1) = ${EVERYTHING}`;
  await warehouse.database.run(`CREATE OR REPLACE TEMP TABLE sure AS
    SELECT f.run, f.workchain, f.lt AS lt_from, t.lt AS lt_to
    FROM (SELECT run, workchain, max(start_lt) AS lt FROM ${FIRSTS} GROUP BY ALL HAVING ${whole}) f
    JOIN (SELECT run, workchain, min(end_lt) AS lt FROM ${TIPS} GROUP BY ALL HAVING ${whole}) t USING (run, workchain)
    WHERE f.lt <= t.lt`);
}
