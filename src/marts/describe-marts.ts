import { kinds } from '../declare/kind.ts';
import { macros } from '../warehouse/relations/macros.ts';
import type { MartDef } from './load-marts.ts';
import type { CheckDef } from './run-checks.ts';

/** Everything there is to say about a mart, as data. */
export function martSummary({ name, file, question, grain, units, inputs, optional, isDaily, table }: MartDef) {
  return {
    table: name,
    mart: true,
    question,
    grain,
    units,
    key: table.key,
    inputs,
    optional,
    daily: isDaily,
    file: `sql/marts/${file.name}.sql`,
    columns: table.columns.map(({ name: column, kind, unit, doc }) => {
      return { name: column, type: kinds[kind].sql, unit, doc };
    }),
  };
}

/** One line a mart. */
export function describeMarts(marts: readonly MartDef[]): string {
  const width = Math.max(...marts.map(({ name }) => name.length));
  const lines = marts.map(({ name, question }) => `${name.padEnd(width)}  ${question}`);
  return `marts, made by tonlake mart build:\n${lines.join('\n')}\n`;
}

/** A mart with its columns, for a terminal. */
export function describeMart(mart: MartDef): string {
  const { table, question, grain, key, inputs, optional, daily, columns } = martSummary(mart);
  const nameWidth = Math.max(...columns.map(({ name }) => name.length));
  const typeWidth = Math.max(...columns.map(({ type }) => type.length));
  const how = daily ? 'built by the day' : 'built as a whole';
  const without = optional.length === 0 ? '' : `, also without ${optional.join(', ')}`;
  const lines = columns.map(({ name, type, unit, doc }) => {
    return `${name.padEnd(nameWidth)}  ${type.padEnd(typeWidth)}  ${doc}${unit === undefined ? '' : ` [${unit}]`}`;
  });
  return [
    `${table}: ${grain}`,
    question,
    `key (${key.join(', ')}), ${how} from ${inputs.join(', ')}${without}`,
    '',
    ...lines,
    '',
  ].join('\n');
}

const MARTS_HEAD = `# Marts

Made from \`sql/marts/\` by \`npm run docs\`.

A mart is a table made by a select over tables and other marts. \`tonlake mart build\` brings all of them up to date, or those that
are named with those that they read. They lie in the same warehouse as the tables, with entries in the same ledger.

- **By the day.** A mart whose grain has a day is built day by day. The ledger tells which entries each day was built from, so that
  only days whose inputs changed are built again. Other marts are built as a whole when anything that they read has changed.
- **Marked.** Every mart has the column \`_sealed\`. It is true where every masterchain block behind the row is sealed in every
  pipeline that the mart reads, and the day is whole: the warehouse holds the blocks on both sides of midnight. Rows that are not are
  there too, with \`_sealed\` false, and a query over them warns (with \`--strict\` it is refused). A mart that is built as a whole is
  sealed when nothing is missing between the first and the last block of the warehouse.
- **Never exported.** A mart that reads a table which was never exported is skipped with the reason; asked for by name it is an error.
- **Left out.** So is one that reads a table or column which every export left out. Days without a column that it reads are not whole.
- **The same rows, however often.** A mart depends on what the warehouse holds, not on when or how often it was built.
- **Exact.** No number passes through a float; a select with a column of type HUGEINT or DOUBLE is refused.
- **Readers.** In a folder of Parquet files each build is a commit, whose old files stay for an hour; a build can be killed at any
  time.

Your own marts: \`tonlake mart build --marts folder\`, with files like those of \`sql/marts\`. A file begins with a header:

\`\`\`text
-- What a row is about, in one line.
-- question: the question that it answers
-- grain: what one row is
-- key: columns that tell a row from all others, and its order
-- inputs: tables and marts that it reads
-- optional: inputs that it can do without
-- incremental: block_date, where it is built by the day
-- units: units of its numbers
-- columns:
--   name (unit): meaning
\`\`\`
`;

/** docs/marts.md: every mart with question, grain, inputs, units and columns. */
export function martsMarkdown(marts: readonly MartDef[]): string {
  const parts = [MARTS_HEAD];
  for (const mart of [...marts].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { table, question, grain, units, key, inputs, optional, daily, file, columns } = martSummary(mart);
    const shown = inputs.map((name) => `\`${name}\`${optional.includes(name) ? ' (optional)' : ''}`);
    parts.push(
      `## ${table}`,
      '',
      `${question}`,
      '',
      `- one row is ${grain}`,
      `- key: ${key.map((name) => `\`${name}\``).join(', ')}`,
      `- inputs: ${shown.join(', ')}`,
      `- units: ${units}`,
      `- built: ${daily ? 'by the day' : 'as a whole'}, by \`${file}\``,
      '',
      '| column | type | unit | meaning |',
      '|---|---|---|---|',
      ...columns.map(({ name, type, unit, doc }) => `| \`${name}\` | ${type} | ${unit ?? ''} | ${cell(doc)} |`),
      '',
    );
  }
  return parts.join('\n');
}

const SQL_HEAD = `# SQL

Made from the program and \`sql/checks/\` by \`npm run docs\`.

\`tonlake sql\` runs a query over a warehouse; tables, views and marts are relations. Named parameters are bound, so that a value is
never read as SQL. A parameter is a text; the query casts it where it wants a number. Statements before the last may \`SET\` and
\`CREATE TEMP\`; only the last returns rows, and none changes the warehouse.

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

The result is a box, CSV, JSON, or a Parquet file (\`--output x.parquet\`): the ending of \`--output\` says the format where \`--format\`
does not, and may not be that of another. Rows are written as they are made, in a memory that does not grow with their number; an error
of the query in the middle leaves no file, but standard output may hold rows by then. A box shows the first 1,000.

One rule for types holds for \`tonlake sql\`, jobs and \`tonlake fetch\`: no integer becomes a float.

| type | CSV and JSON | Parquet |
|---|---|---|
| integers of any size, DECIMAL | all digits | as they are; integers of 128 bits are DECIMAL(38,0), and one of 39 digits is an error: cast it to VARCHAR |
| BIGNUM, BIT, INTERVAL, TIME, UUID | text | text |
| TIMESTAMP_NS | text | TIMESTAMP, in microseconds |
| lists, structs, maps | JSON: arrays and objects; CSV: DuckDB's text | as they are, of the types above |

## What a query lacks

A query is answered from what is there, and what is not is told on standard error; with \`--strict\` the query is refused (exit code 1).
Jobs, reports and the library tell the same. These are gaps:

- a table of the query that was never exported;
- blocks that are missing or in quarantine, between the first and the last block of the warehouse;
- of a query with a condition on \`block_date\` or \`block_time\` instead: every day or time that it asks for and that the warehouse does not
  hold from its beginning to its end. Days follow from the whole condition, parameters, \`WITH\` and views included; one without an end
  (\`block_date >= ...\`) reaches to the newest block. Lists and lookups tell how things are now, and are judged by blocks alone;
- rows of a mart that say \`_sealed\` false, and days that it is not built for.

## Functions

Every connection that tonlake opens has these beside those of DuckDB, and so has the catalog \`warehouse.duckdb\`.

| function | value |
|---|---|
`;

const CHECKS_HEAD = `
## Checks

\`tonlake check\` runs the selects of \`sql/checks\`, each of which returns the rows that break a rule, and ends with 1 when there are
any. The rows, at most 1,000 a check, are in \`check_failures\` (\`check_name\`, \`number\`, \`offender\` as JSON).

\`\`\`sql
select check_name, count(*) as rows, min(offender) as example from check_failures group by all
\`\`\`

Your own checks: \`tonlake check --checks folder\`. The header of a file tells \`rule\`, \`inputs\` and \`optional\` inputs; a check
whose inputs the warehouse does not hold is skipped.

| check | rule |
|---|---|
`;

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
