/** A query whose answer depends on some days. */
export interface DayQuery {
  readonly title: string;
  readonly sql: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

const FIRST = Math.floor(Date.now() / 86_400_000) - 11;

/** Twelve days, the last of which is today. */
export const DAYS = Array.from({ length: 12 }, (_, day) =>
  new Date((FIRST + day) * 86_400_000).toISOString().slice(0, 10),
);

/**
 * Queries by title. `D3` is the day with number 3, `E3` the second that begins it; a title ends with the value of a parameter. Those with `!`
 * would mislead a reader of their text. The last ones make relations, have shapes of dashboards, or conditions on several columns.
 */
const TEXT = `
## count(*) one day
select count(*) from transactions where block_date = 'D3'
## count(*) no filter
select count(*) from transactions
## max(block_date) no filter
select max(block_date), min(block_time) from transactions
## between
select sum(total_fees) from transactions where block_date between date 'D2' and date 'D4'
## IN list of 3 days
select sum(total_fees) from transactions where block_date in ('D1', 'D5', 'D9')
## IN list of 3 scattered + account
select count(*) from transactions where block_date in ('D1', 'D9') and account in ('acc1','acc2','acc0','x','y','z')
## OR of days
select count(*) from transactions where block_date = 'D1' or block_date > 'D9'
## OR day and account (no bound)
select count(*) from transactions where block_date = 'D1' or account = 'acc1'
## not equal / not in
select count(*) from transactions where block_date <> 'D1' and block_date not in ('D2', 'D3')
## current_date - 7
select count(*) from transactions where block_date >= current_date - 7
## CURRENT_DATE - INTERVAL '7' DAY
select count(*) from transactions where block_date >= CURRENT_DATE - INTERVAL '7' DAY
## now() - interval
select count(*) from transactions where block_time > now() - interval '49 hours'
## DATE arithmetic on the column
select count(*) from transactions where block_date + 1 > date 'D6' and block_date - interval 1 day <= 'D8'
## date_trunc day of block_time
select count(*) from transactions where date_trunc('day', block_time) = timestamp 'D4'
## block_time::date
select count(*) from transactions where block_time::date = 'D4'
## date_trunc week of block_date
select count(*) from transactions where date_trunc('week', block_date) = date_trunc('week', date 'D4')
## strftime / extract of block_date
select count(*) from transactions where strftime(block_date, '%Y-%m-%d') = 'D4' and extract(year from block_date) > 2000
## block_time half-open range
select count(*) from transactions where block_time >= 'D3 05:00:00' and block_time < 'D4 00:00:00'
## now (unix) range
select count(*) from transactions where now >= E5 and now < E6
## to_timestamp(now) range
select count(*) from transactions where to_timestamp(now) >= 'D5'
## mc_block_seqno range
select count(*) from transactions where mc_block_seqno between 1030 and 1045
## param $day (day = D3)
select count(*) from transactions where block_date = $day
## param text cast (a = D3)
select count(*) from transactions where block_date >= $a::date and block_date < $a::date + 2
## CTE used twice
with t as (select * from transactions where block_date >= 'D5') select (select count(*) from t where block_date = 'D6'), (select count(*) from t where account = 'acc1')
## CTE unused
with t as (select * from messages) select count(*) from transactions where block_date = 'D6'
## subquery filter outside
select * from (select block_date, count(*) n from transactions group by 1) where block_date = 'D6'
## scalar subquery bound
select count(*) from transactions where block_date = (select max(block_date) from blocks)
## correlated exists
select count(*) from transactions t where t.block_date = 'D2' and exists (select 1 from messages m where m.tx_hash = t.hash and m.block_date = t.block_date)
## correlated scalar
select t.hash, (select sum(value) from messages m where m.tx_hash = t.hash) from transactions t where t.block_date = 'D2'
## not exists / anti
select count(*) from transactions t where t.block_date = 'D2' and not exists (select 1 from messages m where m.tx_hash = t.hash and m.value > 2500)
## inner join, day on both by equality
select sum(m.value) from transactions t join messages m on m.tx_hash = t.hash and m.block_date = t.block_date where t.block_date between 'D2' and 'D3'
## inner join, day on one side
select sum(m.value) from transactions t join messages m on m.tx_hash = t.hash where t.block_date = 'D2'
## left join, filter in ON
select count(*), count(m.value) from transactions t left join messages m on m.tx_hash = t.hash and m.block_date = 'D2' and t.block_date = 'D2'
## left join, filter in WHERE on right
select count(*) from transactions t left join messages m on m.tx_hash = t.hash where m.block_date = 'D2' or m.block_date is null
## full join
select count(*) from (select * from transactions where block_date = 'D1') t full join (select * from messages where block_date = 'D2') m on m.tx_hash = t.hash
## union all, one filtered
select count(*) from (select block_date, hash from transactions where block_date = 'D1' union all select block_date, tx_hash from messages where block_date = 'D7')
## except / intersect
select account from transactions where block_date = 'D1' and lt % 7 > 3 except select account from transactions where block_date = 'D2' and aborted and lt % 4 = 0
## window then filter (all days)
select * from (select *, row_number() over (partition by account order by lt) rn from transactions) where block_date = 'D6'
## window partition by block_date
select * from (select *, row_number() over (partition by block_date order by lt) rn from transactions) where block_date = 'D6'
## qualify
select account, lt from transactions where block_date <= 'D3' qualify row_number() over (partition by account order by lt desc) = 1
## order by limit
select hash from transactions order by lt desc limit 3
## limit 0
select * from transactions limit 0
## contradiction
select count(*) from transactions where block_date > 'D5' and block_date < 'D2'
## where false / 1=0
select count(*) from transactions where 1 = 0
## view
select count(*) from recent
## view over view + join
select count(*), sum(tx_count) from failed_recent
## view with group by, filtered
select * from days where block_date = 'D8'
## view union all, filtered
select sum(v) from tx_msg where block_date >= 'D10'
## view with window, filtered
select * from ranked where block_date = 'D8'
## mart join
select g.total_fees, count(*) from gas_fees_daily g join transactions t on t.block_date = g.block_date where g.block_date = 'D4' group by 1
## recursive cte
with recursive r(d) as (select date 'D2' union all select d + 1 from r where d < 'D4') select r.d, count(hash) from r left join transactions t on t.block_date = r.d group by 1
## generate_series left join
select d, count(hash) from generate_series(date 'D2', date 'D4', interval 1 day) s(d) left join transactions t on t.block_date = d group by 1
## in (select)
select count(*) from messages where tx_hash in (select hash from transactions where block_date = 'D2')
## pivot
pivot (select direction, block_date, value from messages where block_date = 'D2') on direction using sum(value)
## pivot with in
from (select direction, block_date, value from messages where block_date = 'D2') pivot (sum(value) for direction in ('in','out'))
## case in where
select count(*) from transactions where case when account = 'acc1' then block_date = 'D1' else block_date = 'D2' end
## coalesce / is not distinct
select count(*) from transactions where coalesce(block_date, date '2000-01-01') = 'D3' and block_date is not distinct from date 'D3'
## not (range)
select count(*) from transactions where not (block_time >= 'D3')
## grouping sets
select block_date, account, sum(total_fees) from transactions where block_date >= 'D9' group by grouping sets ((block_date), (account))
## asof join
select count(*), max(b.seqno) from transactions t asof join blocks b on t.block_time >= b.block_time where t.block_date = 'D3'
## sample
select count(*) >= 0 from transactions where block_date = 'D3' using sample 50%
## 10 days IN list
select count(*) from transactions where block_date in ('D0', 'D1', 'D2', 'D3', 'D4', 'D5', 'D7', 'D8', 'D9', 'D10')
## alias hides block_date
select count(*) from (select block_date + 5 as block_date, hash from transactions) where block_date = 'D8'
## swapped columns
select count(*) from (select block_time as now, now as x, block_date as d from transactions) where now >= 'D9'
## or of block_time ranges
select count(*) from transactions where (block_time >= 'D1' and block_time < 'D2') or (block_time >= 'D5' and block_time < 'D6')
## TopN with filter
select hash, total_fees from transactions where block_date >= 'D8' order by total_fees desc limit 5
## distinct on
select distinct on (account) account, lt from transactions where block_date <= 'D4' order by account, lt desc
## ! renamed in view, plain compare
select count(*) from renamed where block_date = 'D1'
## ! renamed in view, function
select count(*) from renamed where block_date + 0 = 'D1'
## ! renamed in view, strftime
select count(*) from renamed where strftime(block_date, '%Y-%m-%d') = 'D1'
## ! renamed in subquery, function
select count(*) from (select other as block_date, block_date as o, total_fees from gas_fees_daily) where block_date + 0 = 'D1'
## ! alias column list, function
select count(*) from gas_fees_daily as g(other, f, block_date) where block_date + 0 = 'D1'
## ! alias column list, IN
select count(*) from gas_fees_daily as g(other, f, block_date) where block_date in ('D1', 'D3', 'D2')
## ! alias column list, OR
select count(*) from gas_fees_daily as g(other, f, block_date) where block_date = 'D1' or (block_date > 'D2' and f > 0 and block_date < 'D5')
## ! cast renamed to block_date
select count(*) from (select other::timestamp::date as block_date from gas_fees_daily) where block_date = 'D1'
## ! cte renamed, group, function
with x as (select other as block_date, sum(total_fees) s from gas_fees_daily group by 1) select count(*) from x where block_date + 0 = 'D1'
## ! renamed now
select count(*) from (select mc_block_seqno as now from transactions) where now in (1030, 1031, 1047)
## ! renamed now, arithmetic
select count(*) from (select lt // 100 as block_time, mc_block_seqno as now from transactions) where now + 0 >= 1090
## ! swapped by join alias
select count(*) from gas_fees_daily g join (select block_date as other, other as block_date from gas_fees_daily) h on h.other = g.block_date where h.block_date + 0 = 'D1'
## ! text that looks like a filter
select count(*) from transactions where account <> 'x AND block_date = ''D3'' OR (' and block_date >= 'D9'
## ! quoted column of that name
select count(*) from (select account as "block_date = 'D3'", block_date from transactions) where "block_date = 'D3'" = 'acc1' and block_date > 'D9'
## ! AND under OR, columns mixed
select count(*) from transactions where (block_date = 'D1' or account = 'acc1') and (block_date = 'D2' or block_date = 'D1' or lt > 0) and block_date < 'D5'
## ! OR of ranges and not
select count(*) from transactions where not (block_date >= 'D2' and block_date < 'D9')
## ! not (time range)
select count(*) from transactions where not (block_time >= 'D2 10:00:00' and block_time < 'D9 10:00:00')
## ! not in (times)
select count(*) from transactions where now not in (E2, E3)
## ! or with is null
select count(*) from transactions where (block_time >= 'D9') is not true
## ! negated via = false
select count(*) from transactions where (block_time >= 'D9') = false
## ! xor of ranges
select count(*) from transactions where xor((block_time >= 'D9')::int, 1) = 1
## ! coalesce(compare, true)
select count(*) from transactions where coalesce(nullif(block_time >= 'D9', true), true)
## ! < inside a function
select count(*) from transactions where list_contains([false], block_time >= 'D9 12:00:00')
## ! if()
select count(*) from transactions where if(block_time >= 'D9', false, true)
## ! random()
select count(*) >= 0 from transactions where random() < 0.5 and block_date = 'D3'
## ! column compare block_date = block_time::date
select count(*) from transactions where block_date = block_time::date and block_time >= 'D10'
## ! timestamp compared to date col
select count(*) from transactions where block_date >= timestamp 'D10 12:00:00'
## ! block_date = text
select count(*) from transactions where block_date::varchar like '%' || substr('D3', 6)
## macro
select count(*) from transactions where in_week(block_date, date 'D2')
## table macro
select count(*) from tx_of(date 'D2')
## lateral
select count(*) from (values (date 'D2'), (date 'D3')) v(d), lateral (select * from transactions t where t.block_date = v.d) x
## join with values of days
select count(*) from transactions t join (values (date 'D2')) v(d) on t.block_date = v.d
## summarize
summarize transactions
## FROM-first, positional join
from (select hash from transactions where block_date = 'D2') a positional join (select tx_hash from messages where block_date = 'D3') b
## group all + having on day
select block_date, count(*) from transactions group by all having block_date > 'D9'
## semi / anti syntax
select count(*) from transactions t semi join messages m on t.hash = m.tx_hash and m.block_date = 'D9'
## any / all
select count(*) from transactions where block_date >= all (select block_date from gas_fees_daily where block_date < 'D3')
## variable
select count(*) from transactions where block_date = coalesce(getvariable('d'), current_date - 1)
## list_contains of days
select count(*) from transactions where list_contains([date 'D3', date 'D4'], block_date)
## range join
select count(*) from transactions t join gas_fees_daily g on t.block_date between g.block_date - 1 and g.block_date where g.block_date = 'D4'
## temporary table
create temp table mine_1 as select * from transactions where block_date = 'D3'; select count(*) from mine_1
## temporary view, filtered where it is read
create temp view mine_2 as select * from transactions; select count(*) from mine_2 where block_date = 'D3'
## temporary table over a temporary view
create temp view mine_3 as select * from messages where block_date > 'D8'; create temp table mine_4 as from mine_3; select sum(value) from mine_4
## quoted names
select count("hash") from "transactions" where "block_date" = 'D2'
## capital letters
SELECT COUNT(*) FROM TRANSACTIONS WHERE BLOCK_DATE = 'D2'
## schema named
select count(*) from main.transactions where block_date = 'D2'
## comment before and after
-- from blocks
select count(*) /* block_date = 'D9' */ from transactions where block_date = 'D2' -- or true
## two filters that leave nothing
select count(*) from transactions where block_date = 'D2' and block_date = 'D3'
## daily series
select block_date, count(*), sum(total_fees) from transactions where block_date >= 'D4' group by 1 order by 1
## hourly series
select date_trunc('hour', block_time) as h, count(*) from transactions where block_time >= 'D4' and block_time < 'D5' group by 1
## week of a date
select week(block_date), count(*) from transactions where week(block_date) = week(date 'D4') group by 1
## weekday
select count(*) from transactions where dayofweek(block_date) in (0, 6)
## epoch of a date
select count(*) from transactions where epoch(block_date) >= E6
## epoch of a time
select count(*) from transactions where epoch(block_time) >= E6
## make_date
select count(*) from transactions where block_date >= make_date(year(date 'D3'), month(date 'D3'), day(date 'D3'))
## date_diff
select count(*) from transactions where date_diff('day', block_date, date 'D5') between 0 and 2
## date_add
select count(*) from transactions where block_date < date_add(date 'D2', interval 2 day)
## between of times
select count(*) from messages where block_time between 'D2 12:00' and 'D3 12:00'
## tx_now
select count(*) from messages where tx_now >= E9
## tx_mc_block_seqno
select count(*) from messages where tx_mc_block_seqno in (1031, 1055)
## gen_utime
select count(*) from blocks where gen_utime < E2
## blocks and a day
select count(*) from transactions where mc_block_seqno >= 1050 and block_date <= 'D7'
## seconds or a day
select count(*) from transactions where now < E1 or block_date = 'D6'
## seconds or an account
select count(*) from transactions where now < E1 or account = 'acc0'
## not equal seconds
select count(*) from transactions where now <> E1
## null or a day
select count(*) from transactions where block_date is null or block_date = 'D6'
## days of a list
select count(*) from transactions where block_date in (select unnest([date 'D2', date 'D4']))
## days of another table
select count(*) from transactions where block_date in (select block_date from gas_fees_daily where block_date >= 'D9')
## not in days of another table
select count(*) from transactions where block_date not in (select block_date from gas_fees_daily where block_date >= 'D9')
## self join on two days
select count(*) from transactions a join transactions b on a.account = b.account where a.block_date = 'D2' and b.block_date = 'D3'
## right join
select count(*), count(t.hash) from transactions t right join messages m on m.tx_hash = t.hash and m.block_date = 'D2' where t.block_date is null or t.block_date = 'D2'
## cross join of totals
select a.n, b.n from (select count(*) n from transactions where block_date = 'D2') a, (select count(*) n from messages where block_date = 'D3') b
## filter of an aggregate
select count(*) filter (block_date = 'D2'), count(*) filter (block_date > 'D9') from transactions
## case in the list
select sum(case when block_date = 'D2' then total_fees else 0 end) from transactions
## running total, then a day
select total from (select block_date, sum(total_fees) over (order by block_date) as total from transactions) where block_date = 'D5'
## lag over days
select block_date, n - lag(n) over (order by block_date) from (select block_date, count(*) n from transactions group by 1) where block_date >= 'D9'
## unpivot
select count(*) from (unpivot (select block_date, lt, total_fees from transactions where block_date = 'D1') on lt, total_fees)
## intersect all
select account from transactions where block_date = 'D1' intersect all select account from transactions where block_date = 'D3'
## explain
explain select count(*) from transactions where block_date = 'D1'
## a view of a view with an own alias for a day
select count(*) from (select block_date as day, * exclude (block_date) from failed) where day = 'D3'
## limit within, filter without
select count(*) from (select * from transactions order by lt limit 30) where block_date = 'D3'
## distinct within, filter without
select count(*) from (select distinct account, block_date from transactions) where block_date = 'D3'
`;

export const queries: readonly DayQuery[] = TEXT.split(/^## /m)
  .slice(1)
  .map((text) => {
    const dated = text.replace(/\bE(\d+)\b/g, (_, day) => String((FIRST + Number(day)) * 86_400));
    const [title = '', ...lines] = dated.replace(/\bD(\d+)\b/g, (_, day) => DAYS[Number(day)] ?? '').split('\n');
    const [, name, value = ''] = /\((\w+) = ([\d-]+)\)$/.exec(title) ?? [];
    return { title, sql: lines.join('\n').trim(), ...(name === undefined ? {} : { parameters: { [name]: value } }) };
  });

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
