import { isMasterchain, type PipelineDef } from './declare/pipeline.ts';
import { realEffects } from './effects.ts';
import { TonlakeError } from './errors.ts';
import { loadRegistry } from './registry.ts';
import type { RunOptions } from './run.ts';
import { openSession } from './session.ts';
import type { Source } from './source/source.ts';
import { intersectSpans, type Span, spanSize, subtractSpans, totalSize } from './span.ts';
import { doneSpans } from './store/progress.ts';
import { openReader, type Reader } from './store/reader.ts';
import { readHeaders } from './walk/blocks.ts';
import { chainBounds } from './walk/chain.ts';
import type { WalkMode } from './walk/context.ts';
import { parseRange, resolveRange } from './walk/range.ts';
import { planRowAsks, planRowSpans } from './walk/rowplan.ts';
import { type HeaderSample, sampleHeaders } from './walk/sample.ts';
import { HEADER_SPAN } from './walk/walk.ts';
import { HEADER_ROWS } from './walk/windows.ts';

/** Rows that a window brings in practice, and bytes that a transaction takes with its messages and state in Parquet. */
const ROWS_A_REQUEST = 945;
const BYTES_A_TRANSACTION = 550;
const BYTES_A_HEADER = 120;
const RATES = [1, 10, 25, 100];

/** What a run would do for one pipeline. */
export interface PipelinePlan {
  readonly pipeline: string;
  /** Of the asked range. */
  readonly done: readonly Span[];
  readonly missing: readonly Span[];
  readonly seqnos: number;
  readonly rows: number;
  /** Requests by path. */
  readonly requests: Readonly<Record<string, number>>;
}

export interface RunPlan {
  readonly event: 'plan';
  readonly network: string;
  readonly asked: readonly Span[];
  readonly pipelines: readonly PipelinePlan[];
  /** All requests, and how many more or fewer it may be: a 95 % band where the figures come from a sample, else 0. */
  readonly requests: number;
  readonly band: number;
  /** `headers` where all headers of what is missing are known. */
  readonly basis: 'headers' | 'sample';
  /** Bytes of Parquet. */
  readonly bytes: number;
  /** Minutes at some rates, by requests per second. */
  readonly minutes: Readonly<Record<string, number>>;
}

/** Says what `run` would do with the same options. Touches no file; where headers are unknown, it reads a sample of them. */
export async function planRun(options: RunOptions): Promise<RunPlan> {
  const { effects = realEffects, registry = await loadRegistry() } = options;
  const pipelines = registry.inOrder(options.pipelines);
  const parts = parseRange(options.range);
  const session = await openSession({ ...options, effects });
  try {
    const chain = chainBounds(session.source);
    const asked = await resolveRange(parts, chain);
    const reader = await readerIfAny(options.warehouse, registry.tables);
    try {
      const ledger = (await reader?.ledger()) ?? [];
      const plans: PipelinePlan[] = [];
      let band = 0;
      let isSampled = false;
      for (const pipeline of pipelines) {
        const { name } = pipeline;
        const missing = subtractSpans(asked, doneSpans(ledger, name));
        if (!isMasterchain(pipeline)) {
          plans.push({ ...unproven(pipeline, missing), done: intersectSpans(asked, doneSpans(ledger, name)) });
          continue;
        }
        const { walk } = pipeline;
        const known = intersectSpans(missing, doneSpans(ledger, 'blocks'));
        const unknown = subtractSpans(missing, known);
        const estimate = new Estimate(options.walk ?? 'auto');
        if (reader !== undefined && walk.proof === 'tx_count') await estimate.addKnown(reader, known);
        for (const span of unknown) {
          const { first, last } = await chain.ends();
          const within = intersectSpans([span], [{ from: first, to: last }]);
          for (const part of within) {
            const sample = await samples(session.source, part, first);
            isSampled ||= !sample.isWhole;
            estimate.addSample(walk.proof, part, sample);
          }
        }
        band += estimate.band;
        const done = intersectSpans(asked, doneSpans(ledger, name));
        plans.push({ pipeline: name, done, missing, seqnos: totalSize(missing), ...estimate.figures() });
      }
      return total(session.network, asked, plans, band, isSampled);
    } finally {
      await reader?.close();
    }
  } finally {
    await session.close();
  }
}

/** What is known beforehand of rows that no header counts: requests of a walk block by block, and nothing else. */
function unproven({ name, endpoint, walk }: PipelineDef, missing: readonly Span[]): Omit<PipelinePlan, 'done'> {
  const seqnos = totalSize(missing);
  const path = endpoint.replace(/^[A-Z]+ /, '');
  return { pipeline: name, missing, seqnos, rows: 0, requests: walk.kind === 'block' ? { [path]: seqnos } : {} };
}

function total(
  network: string,
  asked: readonly Span[],
  plans: readonly PipelinePlan[],
  band: number,
  isSampled: boolean,
): RunPlan {
  const inOne = plans.flatMap((plan) => Object.values(plan.requests)).reduce((sum, count) => sum + count, 0);
  const requests = inOne === 0 ? 0 : inOne + 1;
  const rowsOf = (name: string): number => plans.find((plan) => plan.pipeline === name)?.rows ?? 0;
  return {
    event: 'plan',
    network,
    asked,
    pipelines: plans,
    requests,
    band: Math.ceil(band),
    basis: isSampled ? 'sample' : 'headers',
    bytes: rowsOf('transactions') * BYTES_A_TRANSACTION + rowsOf('blocks') * BYTES_A_HEADER,
    minutes: Object.fromEntries(RATES.map((rps) => [rps, Math.round((requests / rps / 60) * 100) / 100])),
  };
}

const remembered = new WeakMap<Source, Map<string, Promise<HeaderSample>>>();

/** The sample of a span; both pipelines ask for the same one. */
function samples(source: Source, span: Span, first: number): Promise<HeaderSample> {
  const known = remembered.get(source) ?? new Map<string, Promise<HeaderSample>>();
  remembered.set(source, known);
  const key = `${span.from}:${span.to}`;
  const sample = known.get(key) ?? sampleHeaders(source, span, first);
  known.set(key, sample);
  return sample;
}

/** Adds up the requests and rows of one pipeline. */
class Estimate {
  band = 0;
  private readonly mode: WalkMode;
  private readonly requests = new Map<string, number>();
  private rows = 0;

  constructor(mode: WalkMode) {
    this.mode = mode;
  }

  figures(): Pick<PipelinePlan, 'rows' | 'requests'> {
    return { rows: Math.round(this.rows), requests: Object.fromEntries(this.requests) };
  }

  /** Rows whose headers are committed: planned as the run will plan them. */
  async addKnown(reader: Reader, spans: readonly Span[]): Promise<void> {
    for (const span of spans) {
      this.addPlanned(span, await readHeaders(reader.query, { from: span.from - 1, to: span.to + 1 }));
    }
  }

  addSample(proof: 'links' | 'tx_count', span: Span, sample: HeaderSample): void {
    const blocks = spanSize(span);
    if (proof === 'links') {
      const headers = blocks * sample.headersPerBlock;
      this.rows += headers;
      this.count('/masterchainBlockShardState', Math.ceil(blocks / HEADER_SPAN) + 2);
      this.count('/blocks', this.mode === 'masterchain' ? blocks : Math.ceil(headers / HEADER_ROWS) + 1);
      return;
    }
    if (sample.isWhole) {
      this.addPlanned(span, groupHeaders(sample));
      return;
    }
    const rows = blocks * sample.rowsPerBlock;
    this.rows += rows;
    if (this.mode === 'masterchain')
      this.count('/transactionsByMasterchainBlock', blocks + Math.floor(rows / 1000 / 50));
    else {
      this.count('/transactions', Math.ceil(rows / ROWS_A_REQUEST));
      this.band += (blocks * sample.rowsBand) / ROWS_A_REQUEST;
    }
  }

  private addPlanned(span: Span, headers: Parameters<typeof planRowSpans>[2]): void {
    for (const part of planRowSpans({ mode: this.mode, spanAsks: Number.MAX_SAFE_INTEGER }, span, headers)) {
      const asks = planRowAsks(this.mode, part, headers);
      const windows = asks.filter((ask) => ask.kind === 'window').length;
      if (windows > 0) this.count('/transactions', windows);
      if (asks.length > windows) this.count('/transactionsByMasterchainBlock', asks.length - windows);
    }
    for (let seqno = span.from; seqno <= span.to; seqno++) {
      for (const header of headers.get(seqno) ?? []) this.rows += header.txCount;
    }
  }

  private count(path: string, requests: number): void {
    this.requests.set(path, (this.requests.get(path) ?? 0) + requests);
  }
}

function groupHeaders(sample: HeaderSample): Parameters<typeof planRowSpans>[2] {
  const groups = new Map<number, HeaderSample['headers'][number][]>();
  for (const header of sample.headers) {
    const group = groups.get(header.mcSeqno) ?? [];
    group.push(header);
    groups.set(header.mcSeqno, group);
  }
  return groups;
}

async function readerIfAny(path: string, tables: Parameters<typeof openReader>[1]): Promise<Reader | undefined> {
  try {
    return await openReader(path, tables);
  } catch (error) {
    if (error instanceof TonlakeError && error.code === 'no-warehouse') return undefined;
    throw error;
  }
}
