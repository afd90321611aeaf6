import { contentHash } from '../audit/content-hash.ts';
import { formatCount } from '../core/format.ts';
import type { Span } from '../core/span.ts';
import { type PipelineDef, proofOf } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { addEvidence, type LedgerEntry, type Reader } from '../warehouse/index.ts';
import {
  type Contents,
  type Coverage,
  coverage as coverageOf,
  describeParts,
  feeding,
} from '../warehouse/query/coverage.ts';
import type { QueryCoverage } from '../warehouse/query/query-coverage.ts';
import type { Scan } from '../warehouse/query/scans.ts';
import { exportedEntries, walkedPipelines } from '../warehouse/query/state-relations.ts';
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
  /** Gaps in the data, one sentence each. */
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

interface ProvenanceOptions extends Omit<GapOptions, 'isOfLedger'> {
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
    ({ name, tables }) => walked.includes(name) && (isOfLedger || tables.some((table) => read.includes(table.name))),
  );
  const tables = used.flatMap((pipeline) => pipeline.tables).filter(({ name }) => isOfLedger || read.includes(name));
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
    coverage: used.map((pipeline) => ({
      pipeline: pipeline.name,
      ...coverageOf(contents, pipeline),
      proof: proofText(contents, pipeline),
    })),
    tables: [...proofs, ...martProofs(contents.ledger, relations)],
    gaps: await gapsOfReport({ ...options, isOfLedger }),
  };
}

/** Rows and key hashes of marts, from their ledger entries. */
function martProofs(ledger: readonly LedgerEntry[], relations: readonly string[]): readonly TableProof[] {
  return relations.flatMap((name) => {
    const parts = ledger.flatMap(({ mart, tables }) => (mart === undefined ? [] : (tables[name] ?? [])));
    if (parts.length === 0) return [];
    const { rows, keyHash } = addEvidence(parts);
    return [{ table: name, rows, keyHash, contentHash: null }];
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

/** `Created 2026-05-02 03:15:00 UTC from sandbox ...`: the last line of a report. */
export function createdText({ madeAt, network, head, timezone }: Provenance): string {
  const created = madeAt.replace('T', ' ').replace(/\.\d+Z$/, '');
  const newest = head === null ? 'no blocks yet' : `newest masterchain block ${head.seqno} of ${head.time}`;
  return `Created ${created} UTC from ${network}; ${newest}; time zone ${timezone}.`;
}

export const GAPS_TITLE = 'Missing from the data of this report';

interface GapOptions {
  readonly coverage: QueryCoverage;
  /** Relations that the selects read. */
  readonly scans: readonly Scan[];
  /** Tables and marts that may be missing. */
  readonly optional: readonly string[];
  /** True if the report reads the ledger, and so describes every table. */
  readonly isOfLedger: boolean;
}

/** Gaps in the data of a report, one sentence each. */
async function gapsOfReport({ coverage, scans, optional, isOfLedger }: GapOptions): Promise<readonly string[]> {
  const contents = await coverage.contents();
  const tables = isOfLedger ? exportedTables(contents) : [];
  const all = tables.map((relation): Scan => ({ relation, columns: new Set<string>(), periods: undefined }));
  const read = scans.filter(({ relation }) => !isExempt(contents, relation, optional));
  const reads = new Set(scans.map(({ relation }) => relation));
  const records = isOfLedger || reads.has('quarantine') ? quarantinedRecords(contents.ledger) : 0;
  return [
    ...(await coverage.lacksOf([...read, ...all])),
    ...(records === 0 ? [] : [`${formatCount(records)} records are in quarantine because they could not be decoded`]),
  ];
}

/** True if gaps of a relation are not reported: it is optional, and a list of readings or absent from the warehouse. */
function isExempt({ registry, ledger }: Contents<Registry>, relation: string, optional: readonly string[]): boolean {
  const pipeline = feeding(registry, relation);
  if (!optional.includes(registry.tableOf(relation)?.name ?? relation)) return false;
  if (pipeline !== undefined && ['snapshot', 'lookup'].includes(pipeline.walk.kind)) return true;
  return ledger.every(({ tables }) => tables[relation] === undefined);
}

function exportedTables({ registry, ledger }: Contents): readonly string[] {
  return registry.pipelines
    .filter(({ name }) => ledger.some(({ pipeline }) => pipeline === name))
    .flatMap(({ tables }) => tables.map(({ name }) => name));
}

function quarantinedRecords(ledger: readonly LedgerEntry[]): number {
  return ledger.reduce((sum, { tables }) => sum + (tables['quarantine']?.rows ?? 0), 0);
}
