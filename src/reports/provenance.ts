import { contentHash } from '../audit/content-hash.ts';
import { type Span, subtractSpans } from '../core/span.ts';
import { proofOf } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import {
  addEvidence,
  doneSpans,
  type LedgerEntry,
  quarantinedSpans,
  type Reader,
  unprovenSpans,
} from '../warehouse/index.ts';
import type { ReadPart } from '../warehouse/query/coverage-gaps.ts';
import type { Reads } from '../warehouse/query/left-out-gaps.ts';
import { findGaps } from './report-gaps.ts';
import { exportedEntries, ledgerRelations, walkedPipelines, wholeSpan } from './report-relations.ts';

/** Hashing the content of a table reads every value of it: about five seconds for so many rows. */
const MOST_HASHED_ROWS = 500_000;

/** What a report rests on. */
export interface Provenance {
  readonly network: string;
  /** ISO 8601, UTC. */
  readonly madeAt: string;
  readonly timezone: string;
  /** The newest masterchain block that the warehouse holds; its time as `2026-05-01 23:39:59`, in the report's time zone. */
  readonly head: { readonly seqno: number; readonly time: string | null } | null;
  readonly coverage: readonly PipelineCoverage[];
  readonly tables: readonly TableProof[];
  /** What the data lacks, one sentence each. */
  readonly gaps: readonly string[];
}

/** Spans as `1000:1499,1600`; `nothing` for none. */
export interface PipelineCoverage {
  readonly pipeline: string;
  readonly sealed: readonly Span[];
  readonly missing: readonly Span[];
  readonly quarantined: readonly Span[];
  /** `block headers` or `transactions` where rows were compared with them; undefined where nothing proves any. */
  readonly proof: string | undefined;
  /** What the source alone vouches for, of a pipeline that is proven elsewhere. */
  readonly unproven: readonly Span[];
}

export interface TableProof {
  readonly table: string;
  readonly rows: number;
  /** Sum of hashes of the rows' keys, from the ledger; decimal. */
  readonly keyHash: string;
  /** Hash of every chain column of every row, 32 hex digits; null where the table is too large to read for a report. */
  readonly contentHash: string | null;
}

export interface ProvenanceOptions {
  readonly reader: Reader;
  readonly registry: Registry;
  /** Relations that the report's selects read. */
  readonly relations: readonly string[];
  /** Columns of tables that they read. */
  readonly reads: Reads;
  /** What its selects read of them. */
  readonly parts: readonly ReadPart[];
  /** Tables that the report can do without. */
  readonly optional: readonly string[];
  readonly timezone: string;
  readonly now: Date;
}

/** Gathers what a report rests on: coverage, proof and hashes of the tables it read, and the head. */
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
    const hash = evidence.rows <= MOST_HASHED_ROWS ? (await contentHash(reader.query, table)).hash : null;
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

/** Marts tell their own rows and keys; they can be made again from the tables. */
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
    missing: subtractSpans(wholeSpan(ledger), [...sealed, ...quarantined]),
    quarantined,
    proof: isCounted ? 'block headers' : by.length === 0 ? undefined : by.join(', '),
    unproven: isCounted ? [] : unprovenSpans(ledger, pipeline, false),
  };
}

/** Coverage in words; `format` writes lists of spans, whole or in short. */
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
