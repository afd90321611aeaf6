import { contentHash } from '../audit/content-hash.ts';
import type { Span } from '../core/span.ts';
import { type PipelineDef, proofOf } from '../declare/pipeline.ts';
import { addEvidence, type LedgerEntry, type Reader, sumKeyHashes } from '../warehouse/index.ts';
import { type Contents, type Coverage, coverage as coverageOf, describeParts } from '../warehouse/query/coverage.ts';
import { exportedEntries, walkedPipelines } from '../warehouse/query/state-relations.ts';
import { type LackOptions, lacksOfReport } from './report-lacks.ts';
import { ledgerRelations } from './report-relations.ts';

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
  /** What the data lack, one sentence each. */
  readonly gaps: readonly string[];
}

export interface PipelineCoverage extends Coverage {
  readonly pipeline: string;
  /** `block headers` or `transactions` if rows were compared with them; undefined without proof. */
  readonly proof: string | undefined;
}

export interface TableProof {
  readonly table: string;
  readonly rows: number;
  /** Sum of hashes of the rows' keys, from the ledger; decimal. */
  readonly keyHash: string;
  /** Hash of every chain column of every row, 32 hex digits; null if the table is too large to hash. */
  readonly contentHash: string | null;
}

export interface ProvenanceOptions extends Omit<LackOptions, 'isOfLedger'> {
  readonly reader: Reader;
  /** Tables and marts that the report reads. */
  readonly relations: readonly string[];
  readonly timezone: string;
  readonly now: Date;
}

/** Collects coverage, proof and hashes of the tables that a report read, and the newest block. */
export async function readProvenance(options: ProvenanceOptions): Promise<Provenance> {
  const { reader, relations } = options;
  const contents = await options.coverage.contents();
  const { registry } = contents;
  const ledger = exportedEntries(contents.ledger, registry);
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
      .map((pipeline) => ({
        pipeline: pipeline.name,
        ...coverageOf(contents, pipeline),
        proof: proofText(contents, pipeline),
      })),
    tables: [...proofs, ...martProofs(contents.ledger, relations)],
    gaps: await lacksOfReport({ ...options, isOfLedger }),
  };
}

/** Rows and key hashes of marts, from their ledger entries. */
function martProofs(ledger: readonly LedgerEntry[], relations: readonly string[]): readonly TableProof[] {
  return relations.flatMap((name) => {
    const parts = ledger.flatMap(({ mart, tables }) => (mart === undefined ? [] : (tables[name] ?? [])));
    if (parts.length === 0) return [];
    return [
      {
        table: name,
        rows: parts.reduce((sum, { rows }) => sum + rows, 0),
        keyHash: sumKeyHashes(parts),
        contentHash: null,
      },
    ];
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

function proofText({ ledger }: Contents, pipeline: PipelineDef): string | undefined {
  if (proofOf(pipeline) !== undefined) return 'block headers';
  const kinds = new Set(ledger.flatMap((entry) => (entry.pipeline === pipeline.name ? (entry.proof ?? []) : [])));
  const by = [...kinds].filter((kind) => kind !== 'none').sort();
  return by.length === 0 ? undefined : by.join(', ');
}

/** Coverage as text; `format` formats lists of spans. */
export function coverageTexts(coverage: readonly PipelineCoverage[], format: (spans: readonly Span[]) => string) {
  return coverage.map(({ pipeline, proven, unproven, missing, proof }) => ({
    pipeline,
    proven: format(proven),
    unproven: unproven.length === 0 ? format([]) : describeParts(unproven, format),
    missing: missing.length === 0 ? format([]) : describeParts(missing, format),
    proof: proof ?? 'nothing',
  }));
}
