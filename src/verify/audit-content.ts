import { hullOf, intersectSpans, type Span } from '../core/span.ts';
import { seqnoColumn } from '../declare/block-column.ts';
import type { TableDef } from '../declare/table.ts';
import { provePlaced } from '../proof/content-proof.ts';
import { storedMessageColumns, transactionColumns } from '../proof/proof-columns.ts';
import { ProofMemory } from '../proof/proof-memory.ts';
import { uncheckedReasons, verdicts } from '../proof/verdicts.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { spanCondition } from '../sql/span-condition.ts';
import type { DamagedStore } from '../warehouse/index.ts';
import type { Finding } from './finding.ts';
import { StoredRows } from './stored-rows.ts';

/** Number of transactions that are in memory at once. */
const CHUNK = 40_000;
/** Maximum number of findings of a chunk, to limit memory. The last one stands for all further ones. */
const MAX_FINDINGS = 100;

export interface ContentScope {
  readonly pipeline: string;
  readonly transactions: TableDef;
  readonly messages: TableDef;
  /** The blocks that `t` and `m` have. */
  readonly runs: readonly Span[];
  /** False if the hashes are not those of cells. Only the other rules are checked then. */
  readonly isHashed: boolean;
  /** Blocks whose messages were exported without their opcodes. */
  readonly withoutOpcodes: readonly Span[];
}

/**
 * Compares the stored transactions of the runs with their hashes. `t` and `m` have them and their messages in a compact form. Each
 * transaction that differs is a finding, up to {@link MAX_FINDINGS} of a chunk.
 */
export async function auditContent(warehouse: DamagedStore, scope: ContentScope): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const memory = new ProofMemory();
  for (const chunk of await chunksOf(warehouse)) findings.push(...(await auditChunk(warehouse, scope, chunk, memory)));
  return findings;
}

/** Blocks with about `CHUNK` transactions. */
interface Chunk {
  readonly span: Span;
  readonly count: number;
  readonly messages: number;
}

async function chunksOf({ database }: DamagedStore): Promise<readonly Chunk[]> {
  const { rows } = await database.query(`SELECT min(mc), max(mc), sum(own)::INTEGER, sum(ends)::INTEGER FROM (
      SELECT mc, coalesce(own, 0) AS own, coalesce(ends, 0) AS ends, sum(own) OVER (ORDER BY mc) // ${CHUNK} AS chunk
      FROM (SELECT mc, count(*) AS own FROM t GROUP BY mc) FULL JOIN (SELECT mc, count(*) AS ends FROM m GROUP BY mc) USING (mc))
    GROUP BY chunk ORDER BY chunk`);
  return (rows as readonly (readonly [number, number, number, number])[]).map(([from, to, count, messages]) => ({
    span: { from, to },
    count,
    messages,
  }));
}

async function auditChunk(
  warehouse: DamagedStore,
  { pipeline, transactions: main, messages: ends, runs, isHashed, withoutOpcodes }: ContentScope,
  { span, count, messages: most }: Chunk,
  memory: ProofMemory,
): Promise<readonly Finding[]> {
  const spans = intersectSpans(runs, [span]);
  memory.clear(transactionColumns.length + storedMessageColumns.length);
  const transactions = new StoredRows(memory, main, [...transactionColumns, 'mc_block_seqno'], count);
  await readRows(warehouse, main, transactions, spans);
  const messages = new StoredRows(memory, ends, storedMessageColumns, most);
  await readRows(warehouse, ends, messages, spans);
  transactions.describe(transactionColumns, 0);
  messages.describe(storedMessageColumns, transactionColumns.length);
  const parents = memory.reserve(4 * messages.count);
  memory.prover.findParents(transactions.count, messages.count, memory.reserve(32 * transactions.count + 16), parents);
  const placed = { from: 0, to: transactions.count, messages: messages.count, parents, hasOpcodes: true };
  const { verdicts: found, wrongOpcodes } = provePlaced(memory, placed, isHashed);
  const findings: Finding[] = [];
  const blockOf = (row: number): Span => {
    const seqno = transactions.integer('mc_block_seqno', row);
    return { from: seqno, to: seqno };
  };
  const add = (row: number, what: string, got: string): void => {
    const where = { pipeline, table: main.name, span: blockOf(row) };
    findings.push({ kind: 'content', ...where, expected: `${what} ${transactions.text('hash', row)}`, got });
  };
  for (const [row, verdict] of found.entries()) {
    const name = verdicts[verdict] ?? 'undecided';
    if (name === 'agrees' || uncheckedReasons[name] !== undefined) continue;
    add(row, 'content with hash', name === 'contradicted' ? 'other content' : `other content (${name})`);
  }
  for (const { row } of wrongOpcodes) {
    const parent = memory.words(parents, messages.count)[row] as number;
    if (intersectSpans([blockOf(parent)], withoutOpcodes).length > 0) continue;
    add(parent, 'the opcode in the body of a message of', 'another');
  }
  return bounded(findings);
}

/** The first findings, and one for the others over all their blocks. */
function bounded(findings: readonly Finding[]): readonly Finding[] {
  const [next, ...more] = findings.slice(MAX_FINDINGS - 1);
  if (next === undefined || more.length === 0) return findings;
  const span = hullOf([next, ...more].flatMap((finding) => finding.span ?? []));
  return [...findings.slice(0, MAX_FINDINGS - 1), { ...next, span, got: `${next.got}, and ${more.length} more` }];
}

/** Adds the rows of a table in some blocks. */
function readRows(
  { database }: DamagedStore,
  table: TableDef,
  rows: StoredRows,
  spans: readonly Span[],
): Promise<void> {
  const condition = spanCondition(quoteName(seqnoColumn(table)), spans);
  const query = `SELECT ${rows.selected(quoteName)} FROM ${quoteName(table.name)} WHERE ${condition}`;
  return database.readRaw(query, (read) => rows.add(read));
}
