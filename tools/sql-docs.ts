import { martSummary } from '../src/marts/describe-marts.ts';
import { bodyFunctions } from '../src/bodies/body-functions.ts';
import { namedLayouts } from '../src/bodies/layouts.ts';
import type { TonView } from '../src/sql/ton-views.ts';
import type { MartDef } from '../src/marts/load-marts.ts';
import type { CheckDef } from '../src/marts/load-checks.ts';
import { type Macro, macros } from '../src/warehouse/relations/macros.ts';

const MARTS_HEAD = `# Marts

Generated from \`sql/marts/\` by \`npm run docs\`.

A mart is a table built by a SELECT over tables and other marts. \`tonlake build\` updates all marts, or the ones you name together
with the marts they read. Marts are stored in the warehouse next to the tables, with entries in the same ledger.

- **Incremental.** A mart with a day in its grain is built day by day. The ledger records which entries each day was built from, so only
  days with changed inputs are rebuilt, and with \`before\` days after changed blocks as well. A mart with \`merge\` in its header is made of its earlier rows and of those of new blocks, as long as no
  row that it has seen was replaced, repaired or forgotten; its rows are those of a full build. All other marts are rebuilt in full when any
  input changes. A changed macro, such as a new name of an opcode, rebuilds the marts that call it.
- **Marked with what is there.** Every mart has the column \`_coverage\`: the least that the warehouse has of the blocks behind the row, in any
  pipeline that the mart reads. It is \`missing\` if a block is missing, or if the day is not complete: the warehouse needs the blocks on both
  sides of midnight. Queries that read such rows print a warning (with \`--strict\` they are refused). It is \`unproven\` if nothing was compared
  with some rows, as with lists that describe the present, and \`proven\` otherwise. A day is never more than the same day of a mart that it
  reads. Of a mart that is rebuilt in full, it tells of all blocks between the first and last one of the warehouse; a query that names its
  days also warns of those that a mart behind it lacks.
- **Missing inputs.** A mart is skipped if one of its tables was never exported, or if every export left out a table or column that it reads;
  the reason names the command that exports it. If you name such a mart, or one that reads it, the command fails. Days whose export lacks a
  column that the mart reads are not complete.
- **Forgotten days.** If \`tonlake forget\` or the retention of a job removed inputs of a day, the day keeps its rows and \`_coverage\`, even
  with \`--full\` or after a change of the SELECT (new columns are null there), until its blocks are exported again. Marts that are not
  incremental are rebuilt from what is left and say so: \`accounts\` then has only accounts with a transaction in the warehouse.
- **Deterministic.** Apart from that, the rows of a mart depend only on the data in the warehouse, not on when or how often it was built.
- **Exact.** No number is converted to a float. A SELECT with a column of type HUGEINT or DOUBLE is refused.
- **Safe for readers.** In a Parquet warehouse, each build is a commit, and the old files stay for an hour. You can kill a build at any
  time.

To add your own marts, run \`tonlake build --marts folder\`, with files like the ones in \`sql/marts\`. Each file begins with a header:

\`\`\`text
-- A one-line description.
-- question: the question that the mart answers
-- grain: what one row represents
-- key: columns that identify a row and define the sort order
-- inputs: tables and marts that it reads
-- optional: inputs that may be missing
-- incremental: block_date, if it is built day by day
-- before: number of masterchain blocks before a day that the rows of the day depend on, too
-- merge: one line for each group of columns, if new blocks can be merged
--   latest lt: columns whose value is that of the row with the greatest lt, which is a column, too
--   earliest lt: the same with the least
--   sum: columns that are added
-- units: units of its numbers
-- columns:
--   name (unit): meaning
\`\`\`
`;

/** docs/marts.md: every mart with question, grain, inputs, units and columns. */
export function martsMarkdown(marts: readonly MartDef[]): string {
  const parts = [MARTS_HEAD];
  for (const mart of [...marts].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { table, question, grain, units, key, inputs, optional, daily, merged, file, columns } = martSummary(mart);
    const shown = inputs.map((name) => `\`${name}\`${optional.includes(name) ? ' (optional)' : ''}`);
    parts.push(
      `## ${table}`,
      '',
      `${question}`,
      '',
      `- grain: ${grain}`,
      `- key: ${key.map((name) => `\`${name}\``).join(', ')}`,
      `- inputs: ${shown.join(', ')}`,
      `- units: ${units}`,
      `- built: ${daily ? 'day by day' : merged ? 'merged with new blocks' : 'in full'}, by \`${file}\``,
      '',
      '| column | type | unit | meaning |',
      '|---|---|---|---|',
      ...columns.map(({ name, type, unit, doc }) => `| \`${name}\` | ${type} | ${unit ?? ''} | ${cell(doc)} |`),
      '',
    );
  }
  return parts.join('\n');
}

const TON_HEAD = `# The schema ton

Generated from \`sql/ton/\` by \`npm run docs\`.

The schema \`ton\` has the tables of the public TON data lake, in which the TON community shares its queries: the same names, columns,
types and units. Queries over \`ton.*\` run here as they are, in \`tonlake sql\`, on the page, in marts, checks and reports; the views are in
\`warehouse.duckdb\`, too, for other DuckDB clients. Queries in Trino's SQL need \`--dialect trino\` (docs/sql.md).

- **Views.** They select from the tables of tonlake, so they cost what those cost, and conditions on \`block_date\`, addresses or logical
  times skip the same files. Warnings about missing blocks name the table behind.
- **Marts.** A view that reads a mart (its inputs say so) is empty, with a warning, until \`tonlake build\` has built it.
- **Lists.** Metadata, owners and sales are as they were last read; the lake has their changes.
- **Prices and labels.** \`ton.prices_daily\` and \`ton.labels\` have the rows of a CSV or Parquet file that \`tonlake.yaml\` names as
  \`prices\` or \`labels\`, with columns of the names below; all but those of the key may be absent. They are empty without a file. A file with
  another column, a key twice (token and day, or account and label), or a value of a wrong type is refused.
- **Names.** A warehouse in one file cannot be called \`ton.duckdb\`: DuckDB could not tell the file from the schema.
`;

/** docs/ton.md: every view of the schema `ton`. */
export function tonMarkdown(views: readonly TonView[]): string {
  const parts = [TON_HEAD];
  for (const { name, title, grain, inputs, file, columns } of [...views].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const read = [...inputs.map((input) => `\`${input}\``), ...(file === undefined ? [] : [`the file \`${file}\` of the project`])];
    parts.push(
      `## ton.${name}`,
      '',
      title,
      '',
      `- grain: ${grain}`,
      `- inputs: ${read.join(', ')}`,
      '',
      '| column | type | unit | meaning |',
      '|---|---|---|---|',
      ...columns.map((column) => `| \`${column.name}\` | ${column.type} | ${column.unit ?? ''} | ${cell(column.doc)} |`),
      '',
    );
  }
  return parts.join('\n');
}

const SQL_HEAD = `# SQL

Generated from the program and \`sql/checks/\` by \`npm run docs\`.

\`tonlake sql\` runs a DuckDB query over a warehouse. Tables, views and marts are relations. Parameters (\`--param\`) are bound as text and
never parsed as SQL; cast them if you need a number. Statements before the last one may \`SET\` variables and \`CREATE TEMP\` objects. Only
the last statement returns rows, and no statement may change the warehouse.

\`\`\`sql
select block_date, ton(gas_fees) as ton from gas_fees_daily order by block_date
\`\`\`

\`\`\`sql
select friendly_address(address) as account, ton(amount::bigint) as balance
from latest_balances where asset = 'TON' order by amount desc limit 10
\`\`\`

\`\`\`sql
select shard_hex(shard_of(account, depth := 2)) as shard, count(*) as transactions from transactions group by all
\`\`\`

Results are printed as a box, CSV or JSON, or written to a Parquet file (\`--output x.parquet\`). The format follows from the file extension
of \`--output\`; if you also set \`--format\`, the two must agree. Rows are streamed, so memory does not grow with the result. If a query
fails halfway, no file is left behind, but standard output may already have rows. A box shows the first 1,000 rows; on a
terminal, a box that is too wide becomes one line per column.

\`tonlake sql\` is a prompt for the same queries: statements of several lines that end with a semicolon, history, completion by Tab,
\`.tables\`, \`.describe TABLE\`, \`.mode box|line|csv|json\`, \`.once FILE\`, \`.output FILE\`, \`.timer on\` (\`.help\` lists all). Ctrl-C cancels
the query. Results that are larger than the terminal open in \`$PAGER\`. Temporary objects and variables last until the shell ends; in a
DuckDB warehouse, which is open only while a statement runs, for one statement. \`tonlake sql < file.sql\` runs a script until the first
error.

\`tonlake sql\`, jobs and \`tonlake api\` convert types in the same way. No integer becomes a float.

| type | CSV and JSON | Parquet |
|---|---|---|
| integers of any size, DECIMAL | all digits | unchanged, except that 128-bit integers become DECIMAL(38,0). One with 39 digits is an error: cast it to VARCHAR |
| BIGNUM, BIT, INTERVAL, TIME, UUID | text | text |
| TIMESTAMP_NS | text | TIMESTAMP, in microseconds |
| lists, structs, maps | JSON: arrays and objects; CSV: DuckDB's text form | unchanged, with the element types above |

## Gaps in the data

tonlake answers a query with the data that is there. If something is missing, it prints a warning on standard error; with \`--strict\` it
refuses the query (exit code 1). Jobs, reports and the library report the same gaps:

- A table in the query was never exported.
- Blocks are missing or in quarantine, between the first and last block of the warehouse.
- If the query filters by \`block_date\` or \`block_time\`, only the days and times that it asks for are checked. Each must be in the
  warehouse from beginning to end. tonlake derives them from the whole condition, including parameters, variables that the
  script sets, \`WITH\` and views; an open condition (\`block_date >= ...\`) extends to the newest block. A condition that depends on rows
  (\`block_date = (SELECT ...)\`), a function of \`block_time\` other than its date, or several functions of \`block_date\` names no days:
  then the blocks between the first and the last of the warehouse are checked. Lists and lookups describe the present, so they are checked
  by blocks only.
- A mart has rows whose \`_coverage\` is \`missing\`, was not built for some days, or lacks commits of its inputs.

\`_coverage\` and \`_freshness\` have the same as rows ([reports.md](reports.md#queries)), also for [other programs](notebooks.md#duckdb).
[coverage.md](coverage.md) has what each of them says of the same warehouse.

## Bodies of messages

\`parse_boc(body, layout)\` reads a bag of cells (a column like \`body_boc\`) by a layout, which is text in the query, and gives a struct of its
fields; null for a body that does not match. \`parse_boc_or_error\` gives \`value\` and \`error\`, the reason.

\`\`\`sql
select parse_boc(body_boc, 'op uint32, query_id uint64, amount coins, to address').amount from messages where opcode = 260734629
\`\`\`

| type of a field | value |
|---|---|
| \`uintN\`, \`intN\` | a number of N bits: BIGINT, DECIMAL(20,0), DECIMAL(38,0), or text above 126 bits |
| \`coins\`, \`varuint16\`; \`varuint32\` | an amount: DECIMAL(38,0); text |
| \`address\` | raw form; null for no address; of an external address, a colon and its bits in hex |
| \`bool\` | BOOLEAN |
| \`bitsN\` | hex digits, as text |
| \`ref\`, \`maybe_ref\`, \`either\` | a cell that the body refers to, maybe none, or either such a cell or the rest of this one: a bag of cells, or with fields in brackets (\`ref(a uint8)\`) a struct |
| \`maybe(type)\` | the type after a bit that tells if it is there |
| \`text\`, \`snake\` | the bytes that are left in the cell, or in it and the chain of its first children, as UTF-8 |
| \`rest\` | what is left, as a bag of cells |

\`field uint32 = 0x0f8a7ea5\` matches that value alone. What follows the last field is not looked at. Special cells (libraries, Merkle
proofs and updates, pruned branches) keep their hash in bags that are returned; a layout reads their data as it is, from the type in 8 bits on.

Layouts have names in \`sql/layouts\`, and \`layouts\` in \`tonlake.yaml\`, or \`--layouts file.yaml\`, adds your own: \`parse_boc(body_boc, 'jetton_transfer')\`. A file maps names to
\`opcode\` and \`fields\`. Names: ${[...namedLayouts().keys()].map((name) => `\`${name}\``).join(', ')}.

| function | value |
|---|---|
${Object.entries(bodyFunctions)
  .map(([name, doc]) => `| \`${name}(body)\` | ${doc} |`)
  .join('\n')}

These functions are written in JavaScript: they exist in \`tonlake sql\`, the prompt, the page, reports, the library and the marts of a project,
not in other DuckDB clients, nor on Spark, which refuses such a mart in one line. A mart is built anew when a layout that it reads by changes.
A query that calls one runs on one thread. A body of more than 16 MB, or deeper than 1,024 cells, is read as none.

## Trino's SQL

\`tonlake sql --dialect trino\`, and the switch on the page, run a query that was written for Trino, for example on Dune, over the schema
\`ton\` (docs/ton.md). Functions that DuckDB does not have, or that mean something else there, are translated; so is what depends on types:
integers divide to integers, decimals keep their digits, floats are rounded when they are cast to integers, dates stay dates, and nulls
win in \`greatest\`, \`least\` and \`concat\`. The option holds for that query alone. What has no equal is an error that names DuckDB's form.

What differs: \`approx_distinct\` and \`approx_percentile\` are exact; regular expressions have no backreferences and no look-around; functions of
Trino that are not translated are unknown functions; \`json_value\` and other functions with SQL/JSON paths are refused; a time \`AT TIME ZONE\` is
what clocks there show, without its zone; \`from_iso8601_timestamp\` refuses an offset that is not UTC; one statement at a time.

Of 13 public queries over \`ton\` that need no uploaded data set, all run as they are. What does not run in others: \`{{parameters}}\` (\`$name\` and
\`--param\`), tables such as \`dune.*\` (their owners' uploads), and \`varbinary_to_uint256\` (no type has 256 bits).

## Functions

These functions are available in every connection that tonlake opens, and in the catalog \`warehouse.duckdb\`.

| function | value |
|---|---|
`;

const CHECKS_HEAD = `
## Checks

\`tonlake test\` runs the queries in \`sql/checks\`, and two that are made from the declarations of all tables. Each returns the rows that break
a rule. If there are any, the exit code is 1. The rows, up to 1,000 per check and day, are in the table \`check_failures\` (\`check_name\`,
\`day\`, \`number\`, and \`offender\` as JSON).

\`\`\`sql
select check_name, count(*) as rows, min(offender) as example from check_failures group by all
\`\`\`

A check reads the days that changed since it last passed: what it has seen is kept in the ledger, like what a mart has seen. Keys are compared
within a day, and in tables without days among the rows that were read since. That no key is in two days follows from the commits, of which no
two have the same blocks, and from the time in each row. \`--all\` reads every day, and compares keys of different days.

To add your own checks, use \`tonlake test --checks folder\`. The header of each file has \`rule\`, \`inputs\` and \`optional\` inputs, and
\`incremental: block_date\` if rows of a day are compared with rows of the same day alone; without it, a check reads everything again after a
change. A check is skipped if the warehouse lacks one of its inputs. Besides tables and marts, a check can read \`_commits\`, the ledger.

| check | rule |
|---|---|
`;

/** sql/macros.sql: the macros as statements, each after those that it calls. */
export function macrosSql(all: readonly Macro[]): string {
  const statements = all.map(({ call, doc, body }) => `-- ${call}: ${doc}\nCREATE OR REPLACE MACRO ${call} AS\n${body};\n`);
  return ['-- The functions of SQL that tonlake adds, for other programs. Made from the declarations by `npm run docs`.\n', ...statements].join('\n');
}

/** docs/sql.md: functions, parameters, formats and checks. */
export function sqlMarkdown(checks: readonly CheckDef[]): string {
  const functions = macros.filter(({ isInner }) => isInner !== true);
  const rows = [
    SQL_HEAD,
    ...functions.map(({ call, doc }) => `| \`${call}\` | ${cell(doc)} |\n`),
    CHECKS_HEAD,
    ...checks.map(({ name, rule }) => `| \`${name}\` | ${cell(rule)} |\n`),
  ];
  return rows.join('');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
