import type { Header } from '../../chain/headers.ts';
import { type Span, spanSize } from '../../core/span.ts';
import type { Reader } from '../../warehouse/index.ts';
import type { PageRequest } from '../page-request.ts';
import { headersOf, planRowAsks, planRowSpans } from '../row-plan.ts';
import { promisedRows } from '../span-proof.ts';
import { readHeaders } from '../store-sink.ts';
import type { WalkMode } from '../walk-context.ts';
import { headerRequests } from './header-requests.ts';
import type { HeaderSample } from './header-sample.ts';
import type { WindowSample } from './sample-windows.ts';

type Headers = ReadonlyMap<number, readonly Header[]>;

/** Rows that a window brings in practice. */
const ROWS_A_REQUEST = 945;
/** Rows of a stretch that fill enough windows to tell how full they are. */
const ENOUGH_ROWS = 5000;
/** How far a count of windows may be off beside what the sample tells: of windows planned from all headers, and from some. */
const DOUBT = { headers: 0.05, sample: 0.1 } as const;

/** Adds up the requests and rows of one pipeline that headers prove. */
export class Estimate {
  /** Pages that a run would ask for, as far as they are planned. */
  readonly asks: PageRequest[] = [];
  private band = 0;
  private readonly mode: WalkMode;
  private readonly requests = new Map<string, number>();
  private rows = 0;

  constructor(mode: WalkMode) {
    this.mode = mode;
  }

  figures(): { readonly rows: number; readonly requests: Readonly<Record<string, number>>; readonly band: number } {
    return { rows: Math.round(this.rows), requests: Object.fromEntries(this.requests), band: Math.ceil(this.band) };
  }

  /** Rows whose headers are committed: planned as the run will plan them. */
  async addKnown(reader: Reader, spans: readonly Span[]): Promise<void> {
    for (const span of spans) {
      this.addPlanned(span, await readHeaders(reader.query, { from: span.from - 1, to: span.to + 1 }));
    }
  }

  /** @param first first masterchain block of the index */
  addSample(proof: 'links' | 'tx_count', span: Span, sample: HeaderSample, first: number): void {
    const blocks = spanSize(span);
    if (proof === 'links') {
      const { states, blocks: listed } = headerRequests(span, sample, this.mode, first);
      this.rows += blocks * sample.headersPerBlock;
      this.count('/masterchainBlockShardState', states);
      this.count('/blocks', Math.round(listed.value));
      const doubt = this.mode === 'masterchain' ? 0 : listed.value * (sample.isWhole ? DOUBT.headers : DOUBT.sample);
      this.band += listed.band + doubt + 1;
      return;
    }
    if (sample.isWhole) {
      this.addPlanned(span, sample.headers);
      return;
    }
    const rows = blocks * sample.rowsPerBlock;
    this.rows += rows;
    for (const stretch of sample.stretches) this.asks.push(...this.planAsks(stretch, sample.headers));
    if (this.mode === 'masterchain') {
      this.count('/transactionsByMasterchainBlock', blocks + Math.floor(rows / 1000 / 50));
      this.band += blocks * DOUBT.headers;
      return;
    }
    const rowsARequest = this.rowsARequest(sample);
    const windows = Math.ceil(rows / rowsARequest);
    this.count('/transactions', windows);
    this.band += (blocks * sample.rowsBand) / rowsARequest + windows * DOUBT.sample;
  }

  /** Adds what windows take that are fuller than planned: by pages that were read, or by what earlier runs asked for. */
  addOverflow({ overflow }: Pick<WindowSample, 'overflow'>): void {
    const windows = this.requests.get('/transactions') ?? 0;
    if (windows === 0) return;
    this.count('/transactions', Math.round(windows * overflow));
    this.band += windows * overflow * 0.5;
  }

  private addPlanned(span: Span, headers: Headers): void {
    const asks = this.planAsks(span, headers);
    this.asks.push(...asks);
    for (const ask of asks) this.count(ask.kind === 'window' ? '/transactions' : '/transactionsByMasterchainBlock', 1);
    this.band += asks.filter(({ kind }) => kind === 'window').length * DOUBT.headers;
    this.rows += promisedRows(headersOf(span, headers));
  }

  /** What the run will ask for, page for page. */
  private planAsks(span: Span, headers: Headers): readonly PageRequest[] {
    const spans = planRowSpans({ mode: this.mode, requestsPerSpan: Number.MAX_SAFE_INTEGER }, span, headers);
    return spans.flatMap((part) => planRowAsks(this.mode, part, headers));
  }

  /** Windows bring less where blocks are so full that windows must cut through them: the stretches are planned to see it. */
  private rowsARequest({ stretches, headers }: HeaderSample): number {
    let rows = 0;
    let asks = 0;
    for (const stretch of stretches) {
      const promised = promisedRows(headersOf(stretch, headers));
      if (promised < ENOUGH_ROWS) continue;
      rows += promised;
      asks += this.planAsks(stretch, headers).length;
    }
    return Math.min(ROWS_A_REQUEST, rows === 0 ? ROWS_A_REQUEST : rows / asks);
  }

  private count(path: string, requests: number): void {
    this.requests.set(path, (this.requests.get(path) ?? 0) + requests);
  }
}
