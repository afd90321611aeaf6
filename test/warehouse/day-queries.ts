/** A query whose answer depends on some days; `D` names a day by its number, `E` the second that begins it. */
export interface DayQuery {
  readonly title: string;
  readonly sql: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

const FIRST = Math.floor(Date.now() / 86_400_000) - 11;
const D = (day: number): string => new Date((FIRST + day) * 86_400_000).toISOString().slice(0, 10);
const E = (day: number): number => (FIRST + day) * 86_400;

/** Twelve days, the last of which is today. */
export const DAYS = Array.from({ length: 12 }, (_, day) => D(day));

/** Plain ones, and (with !) those that would mislead a reader of their text. */
export const queries: readonly DayQuery[] = [
  { title: 'count(*) one day', sql: `select count(*) from transactions where block_date = '${D(3)}'` },
  { title: 'count(*) no filter', sql: 'select count(*) from transactions' },
  { title: 'max(block_date) no filter', sql: 'select max(block_date), min(block_time) from transactions' },
  {
    title: 'between',
    sql: `select sum(total_fees) from transactions where block_date between date '${D(2)}' and date '${D(4)}'`,
  },
  {
    title: 'IN list of 3 days',
    sql: `select sum(total_fees) from transactions where block_date in ('${D(1)}', '${D(5)}', '${D(9)}')`,
  },
  {
    title: 'IN list of 3 scattered + account',
    sql: `select count(*) from transactions where block_date in ('${D(1)}', '${D(9)}') and account in ('acc1','acc2','acc0','x','y','z')`,
  },
  {
    title: 'OR of days',
    sql: `select count(*) from transactions where block_date = '${D(1)}' or block_date > '${D(9)}'`,
  },
  {
    title: 'OR day and account (no bound)',
    sql: `select count(*) from transactions where block_date = '${D(1)}' or account = 'acc1'`,
  },
  {
    title: 'not equal / not in',
    sql: `select count(*) from transactions where block_date <> '${D(1)}' and block_date not in ('${D(2)}', '${D(3)}')`,
  },
  { title: 'current_date - 7', sql: 'select count(*) from transactions where block_date >= current_date - 7' },
  {
    title: "CURRENT_DATE - INTERVAL '7' DAY",
    sql: "select count(*) from transactions where block_date >= CURRENT_DATE - INTERVAL '7' DAY",
  },
  {
    title: 'now() - interval',
    sql: "select count(*) from transactions where block_time > now() - interval '49 hours'",
  },
  {
    title: 'DATE arithmetic on the column',
    sql: `select count(*) from transactions where block_date + 1 > date '${D(6)}' and block_date - interval 1 day <= '${D(8)}'`,
  },
  {
    title: 'date_trunc day of block_time',
    sql: `select count(*) from transactions where date_trunc('day', block_time) = timestamp '${D(4)}'`,
  },
  { title: 'block_time::date', sql: `select count(*) from transactions where block_time::date = '${D(4)}'` },
  {
    title: 'date_trunc week of block_date',
    sql: `select count(*) from transactions where date_trunc('week', block_date) = date_trunc('week', date '${D(4)}')`,
  },
  {
    title: 'strftime / extract of block_date',
    sql: `select count(*) from transactions where strftime(block_date, '%Y-%m-%d') = '${D(4)}' and extract(year from block_date) > 2000`,
  },
  {
    title: 'block_time half-open range',
    sql: `select count(*) from transactions where block_time >= '${D(3)} 05:00:00' and block_time < '${D(4)} 00:00:00'`,
  },
  { title: 'now (unix) range', sql: `select count(*) from transactions where now >= ${E(5)} and now < ${E(6)}` },
  { title: 'to_timestamp(now) range', sql: `select count(*) from transactions where to_timestamp(now) >= '${D(5)}'` },
  {
    title: 'mc_block_seqno range',
    sql: 'select count(*) from transactions where mc_block_seqno between 1030 and 1045',
  },
  { title: 'param $day', sql: 'select count(*) from transactions where block_date = $day', parameters: { day: D(3) } },
  {
    title: 'param text cast',
    sql: 'select count(*) from transactions where block_date >= $a::date and block_date < $a::date + 2',
    parameters: { a: D(3) },
  },
  {
    title: 'CTE used twice',
    sql: `with t as (select * from transactions where block_date >= '${D(5)}') select (select count(*) from t where block_date = '${D(6)}'), (select count(*) from t where account = 'acc1')`,
  },
  {
    title: 'CTE unused',
    sql: `with t as (select * from messages) select count(*) from transactions where block_date = '${D(6)}'`,
  },
  {
    title: 'subquery filter outside',
    sql: `select * from (select block_date, count(*) n from transactions group by 1) where block_date = '${D(6)}'`,
  },
  {
    title: 'scalar subquery bound',
    sql: 'select count(*) from transactions where block_date = (select max(block_date) from blocks)',
  },
  {
    title: 'correlated exists',
    sql: `select count(*) from transactions t where t.block_date = '${D(2)}' and exists (select 1 from messages m where m.tx_hash = t.hash and m.block_date = t.block_date)`,
  },
  {
    title: 'correlated scalar',
    sql: `select t.hash, (select sum(value) from messages m where m.tx_hash = t.hash) from transactions t where t.block_date = '${D(2)}'`,
  },
  {
    title: 'not exists / anti',
    sql: `select count(*) from transactions t where t.block_date = '${D(2)}' and not exists (select 1 from messages m where m.tx_hash = t.hash and m.value > 2500)`,
  },
  {
    title: 'inner join, day on both by equality',
    sql: `select sum(m.value) from transactions t join messages m on m.tx_hash = t.hash and m.block_date = t.block_date where t.block_date between '${D(2)}' and '${D(3)}'`,
  },
  {
    title: 'inner join, day on one side',
    sql: `select sum(m.value) from transactions t join messages m on m.tx_hash = t.hash where t.block_date = '${D(2)}'`,
  },
  {
    title: 'left join, filter in ON',
    sql: `select count(*), count(m.value) from transactions t left join messages m on m.tx_hash = t.hash and m.block_date = '${D(2)}' and t.block_date = '${D(2)}'`,
  },
  {
    title: 'left join, filter in WHERE on right',
    sql: `select count(*) from transactions t left join messages m on m.tx_hash = t.hash where m.block_date = '${D(2)}' or m.block_date is null`,
  },
  {
    title: 'full join',
    sql: `select count(*) from (select * from transactions where block_date = '${D(1)}') t full join (select * from messages where block_date = '${D(2)}') m on m.tx_hash = t.hash`,
  },
  {
    title: 'union all, one filtered',
    sql: `select count(*) from (select block_date, hash from transactions where block_date = '${D(1)}' union all select block_date, tx_hash from messages where block_date = '${D(7)}')`,
  },
  {
    title: 'except / intersect',
    sql: `select account from transactions where block_date = '${D(1)}' and lt % 7 > 3 except select account from transactions where block_date = '${D(2)}' and aborted and lt % 4 = 0`,
  },
  {
    title: 'window then filter (all days)',
    sql: `select * from (select *, row_number() over (partition by account order by lt) rn from transactions) where block_date = '${D(6)}'`,
  },
  {
    title: 'window partition by block_date',
    sql: `select * from (select *, row_number() over (partition by block_date order by lt) rn from transactions) where block_date = '${D(6)}'`,
  },
  {
    title: 'qualify',
    sql: `select account, lt from transactions where block_date <= '${D(3)}' qualify row_number() over (partition by account order by lt desc) = 1`,
  },
  { title: 'order by limit', sql: 'select hash from transactions order by lt desc limit 3' },
  { title: 'limit 0', sql: 'select * from transactions limit 0' },
  {
    title: 'contradiction',
    sql: `select count(*) from transactions where block_date > '${D(5)}' and block_date < '${D(2)}'`,
  },
  { title: 'where false / 1=0', sql: 'select count(*) from transactions where 1 = 0' },
  { title: 'view', sql: 'select count(*) from recent' },
  { title: 'view over view + join', sql: 'select count(*), sum(tx_count) from failed_recent' },
  { title: 'view with group by, filtered', sql: `select * from days where block_date = '${D(8)}'` },
  { title: 'view union all, filtered', sql: `select sum(v) from tx_msg where block_date >= '${D(10)}'` },
  { title: 'view with window, filtered', sql: `select * from ranked where block_date = '${D(8)}'` },
  {
    title: 'mart join',
    sql: `select g.total_fees, count(*) from gas_fees_daily g join transactions t on t.block_date = g.block_date where g.block_date = '${D(4)}' group by 1`,
  },
  {
    title: 'recursive cte',
    sql: `with recursive r(d) as (select date '${D(2)}' union all select d + 1 from r where d < '${D(4)}') select r.d, count(hash) from r left join transactions t on t.block_date = r.d group by 1`,
  },
  {
    title: 'generate_series left join',
    sql: `select d, count(hash) from generate_series(date '${D(2)}', date '${D(4)}', interval 1 day) s(d) left join transactions t on t.block_date = d group by 1`,
  },
  {
    title: 'in (select)',
    sql: `select count(*) from messages where tx_hash in (select hash from transactions where block_date = '${D(2)}')`,
  },
  {
    title: 'pivot',
    sql: `pivot (select direction, block_date, value from messages where block_date = '${D(2)}') on direction using sum(value)`,
  },
  {
    title: 'pivot with in',
    sql: `from (select direction, block_date, value from messages where block_date = '${D(2)}') pivot (sum(value) for direction in ('in','out'))`,
  },
  {
    title: 'case in where',
    sql: `select count(*) from transactions where case when account = 'acc1' then block_date = '${D(1)}' else block_date = '${D(2)}' end`,
  },
  {
    title: 'coalesce / is not distinct',
    sql: `select count(*) from transactions where coalesce(block_date, date '2000-01-01') = '${D(3)}' and block_date is not distinct from date '${D(3)}'`,
  },
  { title: 'not (range)', sql: `select count(*) from transactions where not (block_time >= '${D(3)}')` },
  {
    title: 'grouping sets',
    sql: `select block_date, account, sum(total_fees) from transactions where block_date >= '${D(9)}' group by grouping sets ((block_date), (account))`,
  },
  {
    title: 'asof join',
    sql: `select count(*), max(b.seqno) from transactions t asof join blocks b on t.block_time >= b.block_time where t.block_date = '${D(3)}'`,
  },
  { title: 'sample', sql: `select count(*) >= 0 from transactions where block_date = '${D(3)}' using sample 50%` },
  {
    title: '10 days IN list',
    sql: `select count(*) from transactions where block_date in (${[0, 1, 2, 3, 4, 5, 7, 8, 9, 10].map((k) => `'${D(k)}'`)})`,
  },
  {
    title: 'alias hides block_date',
    sql: `select count(*) from (select block_date + 5 as block_date, hash from transactions) where block_date = '${D(8)}'`,
  },
  {
    title: 'swapped columns',
    sql: `select count(*) from (select block_time as now, now as x, block_date as d from transactions) where now >= '${D(9)}'`,
  },
  {
    title: 'or of block_time ranges',
    sql: `select count(*) from transactions where (block_time >= '${D(1)}' and block_time < '${D(2)}') or (block_time >= '${D(5)}' and block_time < '${D(6)}')`,
  },
  {
    title: 'TopN with filter',
    sql: `select hash, total_fees from transactions where block_date >= '${D(8)}' order by total_fees desc limit 5`,
  },
  {
    title: 'distinct on',
    sql: `select distinct on (account) account, lt from transactions where block_date <= '${D(4)}' order by account, lt desc`,
  },
  // names that lie
  { title: '! renamed in view, plain compare', sql: `select count(*) from renamed where block_date = '${D(1)}'` },
  { title: '! renamed in view, function', sql: `select count(*) from renamed where block_date + 0 = '${D(1)}'` },
  {
    title: '! renamed in view, strftime',
    sql: `select count(*) from renamed where strftime(block_date, '%Y-%m-%d') = '${D(1)}'`,
  },
  {
    title: '! renamed in subquery, function',
    sql: `select count(*) from (select other as block_date, block_date as o, total_fees from gas_fees_daily) where block_date + 0 = '${D(1)}'`,
  },
  {
    title: '! alias column list, function',
    sql: `select count(*) from gas_fees_daily as g(other, f, block_date) where block_date + 0 = '${D(1)}'`,
  },
  {
    title: '! alias column list, IN',
    sql: `select count(*) from gas_fees_daily as g(other, f, block_date) where block_date in ('${D(1)}', '${D(3)}', '${D(2)}')`,
  },
  {
    title: '! alias column list, OR',
    sql: `select count(*) from gas_fees_daily as g(other, f, block_date) where block_date = '${D(1)}' or (block_date > '${D(2)}' and f > 0 and block_date < '${D(5)}')`,
  },
  {
    title: '! cast renamed to block_date',
    sql: `select count(*) from (select other::timestamp::date as block_date from gas_fees_daily) where block_date = '${D(1)}'`,
  },
  {
    title: '! cte renamed, group, function',
    sql: `with x as (select other as block_date, sum(total_fees) s from gas_fees_daily group by 1) select count(*) from x where block_date + 0 = '${D(1)}'`,
  },
  {
    title: '! renamed now',
    sql: `select count(*) from (select mc_block_seqno as now from transactions) where now in (1030, 1031, 1047)`,
  },
  {
    title: '! renamed now, arithmetic',
    sql: `select count(*) from (select lt // 100 as block_time, mc_block_seqno as now from transactions) where now + 0 >= 1090`,
  },
  {
    title: '! swapped by join alias',
    sql: `select count(*) from gas_fees_daily g join (select block_date as other, other as block_date from gas_fees_daily) h on h.other = g.block_date where h.block_date + 0 = '${D(1)}'`,
  },
  {
    title: '! text that looks like a filter',
    sql: `select count(*) from transactions where account <> 'x AND block_date = ''${D(3)}'' OR (' and block_date >= '${D(9)}'`,
  },
  {
    title: '! quoted column of that name',
    sql: `select count(*) from (select account as "block_date = '${D(3)}'", block_date from transactions) where "block_date = '${D(3)}'" = 'acc1' and block_date > '${D(9)}'`,
  },
  {
    title: '! AND under OR, columns mixed',
    sql: `select count(*) from transactions where (block_date = '${D(1)}' or account = 'acc1') and (block_date = '${D(2)}' or block_date = '${D(1)}' or lt > 0) and block_date < '${D(5)}'`,
  },
  {
    title: '! OR of ranges and not',
    sql: `select count(*) from transactions where not (block_date >= '${D(2)}' and block_date < '${D(9)}')`,
  },
  {
    title: '! not (time range)',
    sql: `select count(*) from transactions where not (block_time >= '${D(2)} 10:00:00' and block_time < '${D(9)} 10:00:00')`,
  },
  { title: '! not in (times)', sql: `select count(*) from transactions where now not in (${E(2)}, ${E(3)})` },
  { title: '! or with is null', sql: `select count(*) from transactions where (block_time >= '${D(9)}') is not true` },
  { title: '! negated via = false', sql: `select count(*) from transactions where (block_time >= '${D(9)}') = false` },
  {
    title: '! xor of ranges',
    sql: `select count(*) from transactions where xor((block_time >= '${D(9)}')::int, 1) = 1`,
  },
  {
    title: '! coalesce(compare, true)',
    sql: `select count(*) from transactions where coalesce(nullif(block_time >= '${D(9)}', true), true)`,
  },
  {
    title: '! < inside a function',
    sql: `select count(*) from transactions where list_contains([false], block_time >= '${D(9)} 12:00:00')`,
  },
  { title: '! if()', sql: `select count(*) from transactions where if(block_time >= '${D(9)}', false, true)` },
  {
    title: '! random()',
    sql: `select count(*) >= 0 from transactions where random() < 0.5 and block_date = '${D(3)}'`,
  },
  {
    title: '! column compare block_date = block_time::date',
    sql: `select count(*) from transactions where block_date = block_time::date and block_time >= '${D(10)}'`,
  },
  {
    title: '! timestamp compared to date col',
    sql: `select count(*) from transactions where block_date >= timestamp '${D(10)} 12:00:00'`,
  },
  {
    title: '! block_date = text',
    sql: `select count(*) from transactions where block_date::varchar like '%${D(3).slice(5)}'`,
  },
  { title: 'macro', sql: `select count(*) from transactions where in_week(block_date, date '${D(2)}')` },
  { title: 'table macro', sql: `select count(*) from tx_of(date '${D(2)}')` },
  {
    title: 'lateral',
    sql: `select count(*) from (values (date '${D(2)}'), (date '${D(3)}')) v(d), lateral (select * from transactions t where t.block_date = v.d) x`,
  },
  {
    title: 'join with values of days',
    sql: `select count(*) from transactions t join (values (date '${D(2)}')) v(d) on t.block_date = v.d`,
  },
  { title: 'summarize', sql: 'summarize transactions' },
  {
    title: 'FROM-first, positional join',
    sql: `from (select hash from transactions where block_date = '${D(2)}') a positional join (select tx_hash from messages where block_date = '${D(3)}') b`,
  },
  {
    title: 'group all + having on day',
    sql: `select block_date, count(*) from transactions group by all having block_date > '${D(9)}'`,
  },
  {
    title: 'semi / anti syntax',
    sql: `select count(*) from transactions t semi join messages m on t.hash = m.tx_hash and m.block_date = '${D(9)}'`,
  },
  {
    title: 'any / all',
    sql: `select count(*) from transactions where block_date >= all (select block_date from gas_fees_daily where block_date < '${D(3)}')`,
  },
  {
    title: 'variable',
    sql: `select count(*) from transactions where block_date = coalesce(getvariable('d'), current_date - 1)`,
  },
  {
    title: 'list_contains of days',
    sql: `select count(*) from transactions where list_contains([date '${D(3)}', date '${D(4)}'], block_date)`,
  },
  {
    title: 'range join',
    sql: `select count(*) from transactions t join gas_fees_daily g on t.block_date between g.block_date - 1 and g.block_date where g.block_date = '${D(4)}'`,
  },
];

/** Further ones: statements that make relations, shapes of dashboards, conditions on several columns. */
export const moreQueries: readonly DayQuery[] = [
  {
    title: 'temporary table',
    sql: `create temp table mine_1 as select * from transactions where block_date = '${D(3)}'; select count(*) from mine_1`,
  },
  {
    title: 'temporary view, filtered where it is read',
    sql: `create temp view mine_2 as select * from transactions; select count(*) from mine_2 where block_date = '${D(3)}'`,
  },
  {
    title: 'temporary table over a temporary view',
    sql: `create temp view mine_3 as select * from messages where block_date > '${D(8)}'; create temp table mine_4 as from mine_3; select sum(value) from mine_4`,
  },
  { title: 'quoted names', sql: `select count("hash") from "transactions" where "block_date" = '${D(2)}'` },
  { title: 'capital letters', sql: `SELECT COUNT(*) FROM TRANSACTIONS WHERE BLOCK_DATE = '${D(2)}'` },
  { title: 'schema named', sql: `select count(*) from main.transactions where block_date = '${D(2)}'` },
  {
    title: 'comment before and after',
    sql: `-- from blocks\nselect count(*) /* block_date = '${D(9)}' */ from transactions where block_date = '${D(2)}' -- or true`,
  },
  {
    title: 'two filters that leave nothing',
    sql: `select count(*) from transactions where block_date = '${D(2)}' and block_date = '${D(3)}'`,
  },
  {
    title: 'daily series',
    sql: `select block_date, count(*), sum(total_fees) from transactions where block_date >= '${D(4)}' group by 1 order by 1`,
  },
  {
    title: 'hourly series',
    sql: `select date_trunc('hour', block_time) as h, count(*) from transactions where block_time >= '${D(4)}' and block_time < '${D(5)}' group by 1`,
  },
  {
    title: 'week of a date',
    sql: `select week(block_date), count(*) from transactions where week(block_date) = week(date '${D(4)}') group by 1`,
  },
  { title: 'weekday', sql: 'select count(*) from transactions where dayofweek(block_date) in (0, 6)' },
  { title: 'epoch of a date', sql: `select count(*) from transactions where epoch(block_date) >= ${E(6)}` },
  { title: 'epoch of a time', sql: `select count(*) from transactions where epoch(block_time) >= ${E(6)}` },
  {
    title: 'make_date',
    sql: `select count(*) from transactions where block_date >= make_date(${D(3).split('-').map(Number).join(', ')})`,
  },
  {
    title: 'date_diff',
    sql: `select count(*) from transactions where date_diff('day', block_date, date '${D(5)}') between 0 and 2`,
  },
  {
    title: 'date_add',
    sql: `select count(*) from transactions where block_date < date_add(date '${D(2)}', interval 2 day)`,
  },
  {
    title: 'between of times',
    sql: `select count(*) from messages where block_time between '${D(2)} 12:00' and '${D(3)} 12:00'`,
  },
  { title: 'tx_now', sql: `select count(*) from messages where tx_now >= ${E(9)}` },
  { title: 'tx_mc_block_seqno', sql: 'select count(*) from messages where tx_mc_block_seqno in (1031, 1055)' },
  { title: 'gen_utime', sql: `select count(*) from blocks where gen_utime < ${E(2)}` },
  {
    title: 'blocks and a day',
    sql: `select count(*) from transactions where mc_block_seqno >= 1050 and block_date <= '${D(7)}'`,
  },
  { title: 'seconds or a day', sql: `select count(*) from transactions where now < ${E(1)} or block_date = '${D(6)}'` },
  { title: 'seconds or an account', sql: `select count(*) from transactions where now < ${E(1)} or account = 'acc0'` },
  { title: 'not equal seconds', sql: `select count(*) from transactions where now <> ${E(1)}` },
  {
    title: 'null or a day',
    sql: `select count(*) from transactions where block_date is null or block_date = '${D(6)}'`,
  },
  {
    title: 'days of a list',
    sql: `select count(*) from transactions where block_date in (select unnest([date '${D(2)}', date '${D(4)}']))`,
  },
  {
    title: 'days of another table',
    sql: `select count(*) from transactions where block_date in (select block_date from gas_fees_daily where block_date >= '${D(9)}')`,
  },
  {
    title: 'not in days of another table',
    sql: `select count(*) from transactions where block_date not in (select block_date from gas_fees_daily where block_date >= '${D(9)}')`,
  },
  {
    title: 'self join on two days',
    sql: `select count(*) from transactions a join transactions b on a.account = b.account where a.block_date = '${D(2)}' and b.block_date = '${D(3)}'`,
  },
  {
    title: 'right join',
    sql: `select count(*), count(t.hash) from transactions t right join messages m on m.tx_hash = t.hash and m.block_date = '${D(2)}' where t.block_date is null or t.block_date = '${D(2)}'`,
  },
  {
    title: 'cross join of totals',
    sql: `select a.n, b.n from (select count(*) n from transactions where block_date = '${D(2)}') a, (select count(*) n from messages where block_date = '${D(3)}') b`,
  },
  {
    title: 'filter of an aggregate',
    sql: `select count(*) filter (block_date = '${D(2)}'), count(*) filter (block_date > '${D(9)}') from transactions`,
  },
  {
    title: 'case in the list',
    sql: `select sum(case when block_date = '${D(2)}' then total_fees else 0 end) from transactions`,
  },
  {
    title: 'running total, then a day',
    sql: `select total from (select block_date, sum(total_fees) over (order by block_date) as total from transactions) where block_date = '${D(5)}'`,
  },
  {
    title: 'lag over days',
    sql: `select block_date, n - lag(n) over (order by block_date) from (select block_date, count(*) n from transactions group by 1) where block_date >= '${D(9)}'`,
  },
  {
    title: 'unpivot',
    sql: `select count(*) from (unpivot (select block_date, lt, total_fees from transactions where block_date = '${D(1)}') on lt, total_fees)`,
  },
  {
    title: 'intersect all',
    sql: `select account from transactions where block_date = '${D(1)}' intersect all select account from transactions where block_date = '${D(3)}'`,
  },
  { title: 'explain', sql: `explain select count(*) from transactions where block_date = '${D(1)}'` },
  {
    title: 'a view of a view with an own alias for a day',
    sql: `select count(*) from (select block_date as day, * exclude (block_date) from failed) where day = '${D(3)}'`,
  },
  {
    title: 'limit within, filter without',
    sql: `select count(*) from (select * from transactions order by lt limit 30) where block_date = '${D(3)}'`,
  },
  {
    title: 'distinct within, filter without',
    sql: `select count(*) from (select distinct account, block_date from transactions) where block_date = '${D(3)}'`,
  },
];

/** Views over the tables that the queries name. */
export const VIEWS = [
  'create temp view failed as select * from transactions where aborted',
  'create temp view recent as select * from transactions where block_date >= current_date - 3',
  'create temp view failed_recent as select f.*, b.tx_count from failed f join blocks b using (mc_block_seqno) where f.block_date >= current_date - 3',
  'create temp view days as select block_date, count(*) n, sum(total_fees) fees from transactions group by 1',
  'create temp view tx_msg as select account, block_date, total_fees as v from transactions union all select tx_hash, block_date, value from messages',
  'create temp view renamed as select other as block_date, block_date as day, total_fees from gas_fees_daily',
  'create temp view ranked as select *, row_number() over (partition by account order by lt) rn from transactions',
];
