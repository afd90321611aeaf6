import { shardHex } from '../core/format.ts';
import { blockColumn } from '../declare/block-column.ts';
import type { CrossCheck } from '../declare/cross-check.ts';
import { type PipelineDef, proofOf } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import type { LedgerEntry, Reader } from '../warehouse/index.ts';
import type { ExplainedTable, RowExplanation, RowProof } from './explanation.ts';

/** Masterchain blocks after that of a block in which its successor is looked for. */
const SUCCESSOR_BLOCKS = 100;

type Row = Pick<RowExplanation, 'values' | 'entry'>;

/** A query that returns what was found and what was expected, as texts. */
interface Check {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly describe: (found: string, expected: string) => string;
}

/** Reads how a row was proven. */
export async function readRowProof(
  reader: Reader,
  registry: Registry,
  explained: ExplainedTable,
  row: Row,
): Promise<RowProof> {
  const { kind, statement } = statementOf(explained, row.entry);
  const check = checkFor(kind, registry, explained, row.values);
  if (check === undefined) return { kind, statement, evidence: undefined };
  const { rows } = await reader.query(check.sql, check.parameters);
  const [found, expected] = (rows[0] ?? []).map(String);
  // What a list names may lie before the exported range.
  const isOutside = kind === 'compared' && found === '0';
  if (found === undefined || expected === undefined || isOutside) return { kind, statement, evidence: undefined };
  return { kind, statement, evidence: { holds: found === expected, text: check.describe(found, expected) } };
}

function statementOf({ pipeline, inputs }: ExplainedTable, entry: LedgerEntry): Pick<RowProof, 'kind' | 'statement'> {
  if (entry.verdict === 'quarantined')
    return {
      kind: 'quarantine',
      statement: 'not proven: a record that could not be decoded; its block counts as missing',
    };
  if (entry.mart !== undefined) {
    const { coverage, day } = entry.mart;
    const of = day === undefined ? '' : ` of ${day}`;
    const state = coverage === 'proven' ? 'all source rows are proven' : `some source rows are ${coverage}`;
    const from = inputs.length === 0 ? '' : ` from the rows${of} of ${inputs.join(', ')}`;
    return { kind: 'mart', statement: `derived by its select${from}: ${state}` };
  }
  switch (pipeline === undefined ? undefined : proofOf(pipeline)) {
    case 'links':
      return {
        kind: 'links',
        statement:
          'by links: from the shard state at the end of its span back to the one before it, each block names the ones before it',
      };
    case 'tx_count':
      return {
        kind: 'counts',
        statement:
          'by counts: its block has as many transactions as its header says, and each transaction its messages',
      };
    default:
      return listStatement(pipeline, entry);
  }
}

function listStatement(pipeline: PipelineDef | undefined, entry: LedgerEntry): Pick<RowProof, 'kind' | 'statement'> {
  switch (entry.proof) {
    case undefined:
    case 'none': {
      const isMember = pipeline?.crossCheck?.kind === 'traceMembers';
      const beyond = isMember ? '; what it names exists, but nothing says how many rows there should be' : '';
      return { kind: 'read', statement: `not proven: it is what the source answered${beyond}` };
    }
    default:
      return {
        kind: 'compared',
        statement: 'the list was compared with the transactions of the same blocks: none is missing',
      };
  }
}

function checkFor(
  kind: RowProof['kind'],
  registry: Registry,
  { table, pipeline }: ExplainedTable,
  values: Row['values'],
): Check | undefined {
  if (pipeline === undefined) return undefined;
  if (kind === 'counts') return countCheck(registry, pipeline, table, values);
  if (kind === 'links') return linkCheck(values);
  if (kind === 'compared' && pipeline.crossCheck !== undefined) return listCheck(pipeline.crossCheck, values);
  return undefined;
}

/** Does the block of the row's transaction have as many transactions as its header says? */
function countCheck(
  registry: Registry,
  pipeline: PipelineDef,
  table: TableDef,
  values: Row['values'],
): Check | undefined {
  const hash = values[transactionColumn(registry, table) ?? ''];
  const seqno = values[blockColumn(pipeline, table) ?? ''];
  if (typeof hash !== 'string' || typeof seqno !== 'string') return undefined;
  return {
    sql: `WITH own AS (SELECT block_workchain AS w, block_shard AS s, block_seqno AS q FROM _counted
        WHERE mc_block_seqno = $seqno::INTEGER AND hash = $hash LIMIT 1)
      SELECT (SELECT count(*) FROM _counted, own WHERE mc_block_seqno = $seqno::INTEGER
          AND block_workchain = w AND block_shard = s AND block_seqno = q)::VARCHAR,
        (SELECT max(tx_count) FROM _headers, own WHERE mc_block_seqno = $seqno::INTEGER
          AND workchain = w AND shard = s AND seqno = q)::VARCHAR FROM own`,
    parameters: { hash, seqno },
    describe: (found, expected) =>
      `the header of its block says ${expected} transactions, and the warehouse has ${found}`,
  };
}

/** The column with the hash of the counted transaction that a row belongs to. */
function transactionColumn(registry: Registry, table: TableDef): string | undefined {
  const hash = registry.playing('counted').table.columns.find(({ name }) => name === 'hash');
  if (hash?.origin.kind !== 'path') return undefined;
  const { path } = hash.origin;
  const isNested = table.rows.kind === 'nested';
  return table.columns.find(({ origin }) =>
    isNested ? origin.kind === 'parent' && origin.column === hash.name : origin.kind === 'path' && origin.path === path,
  )?.name;
}

/** Does a header name this one as the block before it? Unknown for the newest block of a shard. */
function linkCheck(values: Row['values']): Check | undefined {
  const { workchain, shard, seqno, mc_block_seqno: mc } = values;
  if (![workchain, shard, seqno, mc].every((value) => typeof value === 'string')) return undefined;
  const name = `{"workchain":${workchain},"shard":"${shardHex(shard ?? '0')}","seqno":${seqno}}`;
  return {
    sql: `SELECT '1', '1' FROM _headers WHERE mc_block_seqno BETWEEN $mc::INTEGER AND $mc::INTEGER + ${SUCCESSOR_BLOCKS} AND workchain = $workchain::INTEGER
      AND seqno > $seqno::INTEGER AND contains(upper(replace(prev_blocks, ' ', '')), upper($name)) LIMIT 1`,
    parameters: { mc: mc ?? '', workchain: workchain ?? '', seqno: seqno ?? '', name },
    describe: () => 'a newer header of the warehouse names it as the block before',
  };
}

/** Are the transactions of the row in the warehouse? */
function listCheck(check: CrossCheck, values: Row['values']): Check | undefined {
  const text = (name: string): string => values[name] ?? '';
  switch (check.kind) {
    case 'orders':
      return {
        sql: "SELECT count(*)::VARCHAR, '1' FROM _counted WHERE hash = $hash AND account = $account AND lt = $lt::BIGINT",
        parameters: { hash: text('tx_hash'), account: text(check.account), lt: text('tx_lt') },
        describe: (found) =>
          `its transaction is in the warehouse ${times(found)}, on the same account and at the same time`,
      };
    case 'sentMessages':
      return {
        sql: "SELECT count(*)::VARCHAR, '1' FROM _message_ends WHERE msg_hash = $message AND direction = 'out' AND tx_hash = $sender",
        parameters: { message: text('msg_hash'), sender: text('out_msg_tx_hash') },
        describe: (found) => `its sender sent the message ${times(found)}`,
      };
    case 'wholeTraces':
      return {
        sql: `SELECT stored::VARCHAR, $count FROM (SELECT count(*) AS stored FROM _counted WHERE trace_id = $trace)
          WHERE EXISTS (FROM _counted WHERE mc_block_seqno = $start::INTEGER)`,
        parameters: { trace: text('trace_id'), count: text('transactions'), start: text('mc_seqno_start') },
        describe: (found, expected) =>
          `it names ${expected} transactions, and the warehouse has ${found} with its trace id`,
      };
    case 'traceMembers':
      return undefined;
  }
}

function times(count: string): string {
  return count === '1' ? 'once' : `${count} times`;
}
