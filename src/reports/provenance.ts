import { contentHash } from '../audit/content-hash.ts';
import { type Span, subtractSpans, wholeRange } from '../core/span.ts';
import { proofOf } from '../declare/pipeline.ts';
import {
  addEvidence,
  doneSpans,
  type LedgerEntry,
  quarantinedSpans,
  type Reader,
  unprovenSpans,
} from '../warehouse/index.ts';
import { findGaps, type GapOptions } from './report-gaps.ts';
import { exportedEntries, ledgerRelations, walkedPipelines } from './report-relations.ts';

/** Maximum number of rows to hash, which takes about five seconds. */
const MAX_HASHED_ROWS = 500_000;

/** The data behind a report. */
export interface Provenance {
  readonly network: string;
  /** ISO 8601, UTC. */
  readonly madeAt: string;
  readonly timezone: string;
  /** The newest masterchain block in the warehouse; its time as `2026-05-01 23:39:59`, in the report's time zone. */
  readonly head: { readonly seqno: number; readonly time: string | null } | null;
  readonly coverage: readonly PipelineCoverage[];
  readonly tables: readonly TableProof[];
  /** Gaps in the data, one sentence each. */
  readonly gaps: readonly string[];
}

/** Spans as `1000:1499,1600`; `nothing` for none. */
export interface PipelineCoverage {
  readonly pipeline: string;
  readonly sealed: readonly Span[];
  readonly missing: readonly Span[];
  readonly quarantined: readonly Span[];
  /** `block headers` or `transactions` if rows were compared with them; undefined without proof. */
  readonly proof: string | undefined;
  /** Spans without proof, of a pipeline that is otherwise proven. */
  readonly unproven: readonly Span[];
}

export interface TableProof {
  readonly table: string;
  readonly rows: number;
  /** Sum of hashes of the rows' keys, from the ledger; decimal. */
  readonly keyHash: string;
  /** Hash of every chain column of every row, 32 hex digits; null if the table is too large to hash. */
  readonly contentHash: string | null;
}

export interface ProvenanceOptions extends Omit<GapOptions, 'isOfLedger'> {
  readonly timezone: string;
  readonly now: Date;
}

/** Collects coverage, proof and hashes of the tables that a report read, and the newest block. */
export async function readProvenance(options: ProvenanceOptions): Promise<Provenance> {
  const { reader, registry, relations } = options;
  const held = await reader.ledger();
  const ledger = exportedEntries(held, registry);
  const isOfLedger = relations.some((name) => ledgerRelations.includes(name));
  const walked = walkedPipelines(ledger);
  const read = relations.map((name) => registry.tableOf(name)?.name ?? name);
  const used = registry.pipelines.filter(
    ({ name, tables }) => (isOfLedger && walked.includes(name)) || tables.some((table) => read.includes(table.name)),
  );
  const tables = used
    .filter(({ name }) => walked.includes(name))
    .flatMap((pipeline) => pipeline.tables)
    .filter(({ name }) => isOfLedger || read.includes(name));
  const proofs: TableProof[] = [];
  for (const table of tables) {
    const evidence = addEvidence(
      ledger.flatMap((entry) => entry.tables[table.name] ?? []),
      table,
    );
    const hash = evidence.rows <= MAX_HASHED_ROWS ? (await contentHash(reader.query, table)).hash : null;
    proofs.push({ table: table.name, rows: evidence.rows, keyHash: evidence.keyHash, contentHash: hash });
  }
  return {
    network: reader.network,
    madeAt: options.now.toISOString(),
    timezone: options.timezone,
    head: await readHead(reader),
    coverage: used
      .filter(({ name }) => walked.includes(name))
      .map((pipeline) => coverageOf(ledger, pipeline.name, proofOf(pipeline) !== undefined)),
    tables: [...proofs, ...martProofs(held, relations)],
    gaps: await findGaps({ ...options, relations: read, isOfLedger }, held),
  };
}

/** Rows and key hashes of marts, from their ledger entries. */
function martProofs(ledger: readonly LedgerEntry[], relations: readonly string[]): readonly TableProof[] {
  return relations.flatMap((name) => {
    const parts = ledger.flatMap(({ mart, tables }) => (mart === undefined ? [] : (tables[name] ?? [])));
    if (parts.length === 0) return [];
    const keyHash = BigInt.asUintN(
      64,
      parts.reduce((sum, part) => sum + BigInt(part.keyHash), 0n),
    ).toString();
    return [{ table: name, rows: parts.reduce((sum, { rows }) => sum + rows, 0), keyHash, contentHash: null }];
  });
}

async function readHead({ query }: Reader): Promise<Provenance['head']> {
  const { rows } = await query(
    `SELECT mc_block_seqno, local_time(block_time)::VARCHAR FROM _headers WHERE workchain = -1
     ORDER BY mc_block_seqno DESC LIMIT 1`,
  );
  const [row] = rows;
  return row === undefined ? null : { seqno: Number(row[0]), time: String(row[1]) };
}

function coverageOf(ledger: readonly LedgerEntry[], pipeline: string, isCounted: boolean): PipelineCoverage {
  const sealed = doneSpans(ledger, pipeline);
  const quarantined = subtractSpans(quarantinedSpans(ledger, pipeline), sealed);
  const kinds = new Set(ledger.flatMap((entry) => (entry.pipeline === pipeline ? (entry.proof ?? []) : [])));
  const by = [...kinds].filter((kind) => kind !== 'none').sort();
  return {
    pipeline,
    sealed,
    missing: subtractSpans(wholeRange(ledger.map(({ span }) => span)), [...sealed, ...quarantined]),
    quarantined,
    proof: isCounted ? 'block headers' : by.length === 0 ? undefined : by.join(', '),
    unproven: isCounted ? [] : unprovenSpans(ledger, pipeline, false),
  };
}

/** Coverage as text; `format` formats lists of spans. */
export function coverageTexts(coverage: readonly PipelineCoverage[], format: (spans: readonly Span[]) => string) {
  return coverage.map(({ pipeline, sealed, missing, quarantined, proof, unproven }) => {
    const alone = unproven.length === 0 ? '' : `; only read: ${format(unproven)}`;
    return {
      pipeline,
      sealed: format(sealed),
      missing: format(missing),
      quarantined: format(quarantined),
      proof: proof === undefined ? 'only read' : `${proof}${alone}`,
    };
  });
}
