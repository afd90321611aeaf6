import type { Header } from './audit/header.ts';
import { type Span, spanSize } from './span.ts';
import type { Reader } from './store/reader.ts';
import type { PageAsk } from './walk/ask.ts';
import { readHeaders } from './walk/blocks.ts';
import type { WalkMode } from './walk/context.ts';
import { promisedRows } from './walk/proof.ts';
import { headersOf, planRowAsks, planRowSpans } from './walk/rowplan.ts';
import type { HeaderSample } from './walk/sample.ts';
import { HEADER_SPAN } from './walk/walk.ts';
import { HEADER_ROWS } from './walk/windows.ts';

type Headers = ReadonlyMap<number, readonly Header[]>;

/** Rows that a window brings in practice. */
const ROWS_A_REQUEST = 945;
/** Rows of a stretch that fill enough windows to tell how full they are. */
const ENOUGH_ROWS = 5000;

/** Adds up the requests and rows of one pipeline. */
export class Estimate {
  band = 0;
  private readonly mode: WalkMode;
  private readonly requests = new Map<string, number>();
  private rows = 0;

  constructor(mode: WalkMode) {
    this.mode = mode;
  }

  figures(): { readonly rows: number; readonly requests: Readonly<Record<string, number>> } {
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
      this.addPlanned(span, sample.headers);
      return;
    }
    const rows = blocks * sample.rowsPerBlock;
    this.rows += rows;
    if (this.mode === 'masterchain')
      this.count('/transactionsByMasterchainBlock', blocks + Math.floor(rows / 1000 / 50));
    else {
      const rowsARequest = this.rowsARequest(sample);
      this.count('/transactions', Math.ceil(rows / rowsARequest));
      this.band += (blocks * sample.rowsBand) / rowsARequest;
    }
  }

  private addPlanned(span: Span, headers: Headers): void {
    for (const ask of this.planAsks(span, headers)) {
      this.count(ask.kind === 'window' ? '/transactions' : '/transactionsByMasterchainBlock', 1);
    }
    this.rows += promisedRows(headersOf(span, headers));
  }

  /** What the run will ask for, page for page. */
  private planAsks(span: Span, headers: Headers): readonly PageAsk[] {
    const spans = planRowSpans({ mode: this.mode, spanAsks: Number.MAX_SAFE_INTEGER }, span, headers);
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
