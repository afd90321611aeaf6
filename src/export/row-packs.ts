import type { Header } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';
import { PAGE_ROWS } from './page-request.ts';
import { headersOf } from './row-plan.ts';
import { nearSpan } from './span-cuts.ts';
import { promisedRows } from './span-proof.ts';
import type { WalkContext } from './walk-context.ts';

/** Maximum blocks of a pack: their headers are in memory together. */
const PACK_BLOCKS = 5_000;
/** Estimated rows per mean row of a block without headers. */
const DOUBT = 1.3;

/** A span by itself, or neighbours whose rows, and the rows between them, probably fit one page. */
export interface RowPack {
  readonly spans: readonly [Span, ...Span[]];
  /** Of all their blocks, if there are several. */
  readonly headers: ReadonlyMap<number, readonly Header[]>;
}

/** Packs spans that are cheaper together. Many small ones cost a request each otherwise. */
export async function* packSpans({ mode, sink }: WalkContext, missing: readonly Span[]): AsyncGenerator<RowPack> {
  for (let rest = missing; rest.length > 0; ) {
    const [first, ...others] = rest as readonly [Span, ...Span[]];
    const near = nearSpan([first, ...others], { hole: PACK_BLOCKS, blocks: PACK_BLOCKS });
    const together = mode === 'masterchain' ? [] : rest.filter(({ to }) => to <= near.to);
    if (together.length > 1) yield* packsOf(together, await sink.headers(near));
    else yield { spans: [first], headers: new Map() };
    rest = rest.slice(Math.max(1, together.length));
  }
}

function* packsOf(spans: readonly Span[], headers: RowPack['headers']): Generator<RowPack> {
  const rowsOf = (span: Span): number => promisedRows(headersOf(span, headers));
  const meanRows = promisedRows([...headers.values()].flat()) / Math.max(1, headers.size);
  const between = ({ to }: Span, { from }: Span): number => {
    let rows = 0;
    for (let seqno = to + 1; seqno < from; seqno++) {
      const own = headers.get(seqno);
      rows += own === undefined ? meanRows * DOUBT : promisedRows(own);
    }
    return rows;
  };
  let pack: [Span, ...Span[]] | undefined;
  let rows = 0;
  for (const span of spans) {
    const more = rowsOf(span) + (pack === undefined ? 0 : between(pack.at(-1) as Span, span));
    if (pack !== undefined && rows + more < PAGE_ROWS) {
      pack.push(span);
      rows += more;
      continue;
    }
    if (pack !== undefined) yield { spans: pack, headers };
    pack = [span];
    rows = rowsOf(span);
  }
  if (pack !== undefined) yield { spans: pack, headers };
}
