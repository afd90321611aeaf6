import type { Header } from '../audit/header.ts';
import { describeDifferences, reconcileBlock } from '../audit/reconcile.ts';
import { AuditError, DecodeError, TonlakeError, WalkError } from '../errors.ts';
import type { RefusedRecord } from '../flatten/scan.ts';
import { type Span, spanSize } from '../span.ts';
import type { WalkContext } from './context.ts';
import { inOrder, seqnosOf } from './ordered.ts';
import { keepBroken, keepRefused, reportProblem, reportUnknown } from './report.ts';
import { SpanWriter } from './spanwriter.ts';

/** Rows in a page; the most that the API gives. */
const PAGE_ROWS = 1000;
/** Masterchain blocks whose headers are read from the store at once. */
const CHUNK = 5000;
/** How often a block is asked for when its rows do not balance or are no JSON. */
const TRIES = 3;
const TRY_PAUSE_MS = 500;

interface Page {
  readonly body: Buffer;
  readonly request: string;
}

interface Refusal {
  readonly request: string;
  readonly records: readonly RefusedRecord[];
}

type Outcome =
  | { readonly kind: 'balanced'; readonly records: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'broken'; readonly page: Page; readonly error: TonlakeError }
  | { readonly kind: 'unbalanced'; readonly error: TonlakeError };

/**
 * Fetches the rows of every masterchain block of some spans, compares them with the committed headers, and commits them in spans
 * of reasonable size. A block that is a hole, does not balance or cannot be decoded is reported and left out; its neighbours stay.
 */
export async function walkMasterchain(context: WalkContext, missing: readonly Span[]): Promise<void> {
  const writer = new SpanWriter(context);
  try {
    for (const span of missing) {
      for (let from = span.from; from <= span.to && !context.stop.aborted; from += CHUNK) {
        await walkChunk(context, writer, { from, to: Math.min(span.to, from + CHUNK - 1) });
      }
    }
    await writer.end();
  } catch (error) {
    // What was proven before the failure is kept; the failure itself is what the caller hears.
    await writer.end().catch(() => undefined);
    throw error;
  } finally {
    await writer.abandon();
  }
}

async function walkChunk(context: WalkContext, writer: SpanWriter, chunk: Span): Promise<void> {
  const headers = await context.sink.headers(chunk);
  const known = [...seqnosOf([chunk])].filter((seqno) => headers.has(seqno));
  if (known.length < spanSize(chunk)) reportHeaderless(context, chunk, headers);
  const load = (seqno: number, signal: AbortSignal) => tryPages(context, seqno, headers.get(seqno) ?? [], signal);
  for await (const { key, value } of inOrder(known, context.ahead, load)) {
    if (value instanceof TonlakeError) reportProblem(context, { from: key, to: key }, value);
    else await addBlock(context, writer, key, headers.get(key) ?? [], value);
    if (context.stop.aborted) return;
  }
}

function reportHeaderless(context: WalkContext, chunk: Span, headers: ReadonlyMap<number, unknown>): void {
  for (const seqno of seqnosOf([chunk])) {
    if (headers.has(seqno)) continue;
    const { name } = context.pipeline;
    const message = `walk ${name} ${seqno}: expected committed headers of block ${seqno}, got none`;
    reportProblem(context, { from: seqno, to: seqno }, new WalkError(message, { code: 'no-headers' }));
  }
}

/** A hole is an ordinary result; any other failure ends the walk. */
async function tryPages(
  context: WalkContext,
  seqno: number,
  headers: readonly Header[],
  signal?: AbortSignal,
): Promise<readonly Page[] | TonlakeError> {
  try {
    return await fetchPages(context, seqno, headers, signal);
  } catch (error) {
    if (error instanceof TonlakeError && error.code === 'not-indexed') return error;
    throw error;
  }
}

/** All pages of a block at once: its headers say how many there are, the last of them being short. */
async function fetchPages(
  context: WalkContext,
  seqno: number,
  headers: readonly Header[],
  signal?: AbortSignal,
): Promise<readonly Page[]> {
  const { source, pipeline } = context;
  const { endpoint, parameters, walk } = pipeline;
  const promised = headers.reduce((sum, header) => sum + header.txCount, 0);
  const offsets = Array.from({ length: Math.floor(promised / PAGE_ROWS) + 1 }, (_, page) => page * PAGE_ROWS);
  return Promise.all(
    offsets.map((offset) => {
      const query: [string, string][] = [
        [walk.seqno, String(seqno)],
        ['limit', String(PAGE_ROWS)],
        ...(offset === 0 ? [] : [['offset', String(offset)] as [string, string]]),
        ...Object.entries(parameters),
      ];
      const ask = {
        path: endpoint.replace(/^GET /, ''),
        query,
        missing: 'wait',
        label: `${pipeline.name} ${seqno}`,
      } as const;
      return source.fetch(ask, ({ body, request }) => ({ body, request }), { signal });
    }),
  );
}

async function addBlock(
  context: WalkContext,
  writer: SpanWriter,
  seqno: number,
  headers: readonly Header[],
  first: readonly Page[],
): Promise<void> {
  let pages = first;
  for (let tried = 1; ; tried++) {
    const outcome = await tryBlock(context, writer, seqno, headers, pages);
    switch (outcome.kind) {
      case 'balanced':
        await writer.add(seqno, outcome.records);
        context.report({ event: 'progress', pipeline: context.pipeline.name, seqno, records: outcome.records });
        return;
      case 'refused':
        return keepRefused(context, writer, seqno, outcome.refusal.request, outcome.refusal.records);
      case 'broken':
        if (tried === TRIES) return keepBroken(context, writer, seqno, outcome.page, outcome.error);
        break;
      case 'unbalanced':
        if (tried === TRIES) return reportProblem(context, { from: seqno, to: seqno }, outcome.error);
    }
    await context.effects.sleep(TRY_PAUSE_MS * tried);
    const again = await tryPages(context, seqno, headers);
    if (again instanceof TonlakeError) return reportProblem(context, { from: seqno, to: seqno }, again);
    pages = again;
  }
}

/** Decodes the pages of a block and compares them with its headers. Unless they balance, no row stays. */
async function tryBlock(
  context: WalkContext,
  writer: SpanWriter,
  seqno: number,
  headers: readonly Header[],
  pages: readonly Page[],
): Promise<Outcome> {
  const { decoder } = writer;
  const mark = await writer.begin(seqno);
  const { name } = context.pipeline;
  const unknown: ReadonlyMap<string, number>[] = [];
  for (const page of pages) {
    try {
      const scanned = decoder.decode(page.body);
      unknown.push(scanned.unknown);
      if (scanned.refused.length === 0) continue;
      decoder.rollback(mark);
      return { kind: 'refused', refusal: { request: page.request, records: scanned.refused } };
    } catch (error) {
      decoder.rollback(mark);
      if (error instanceof DecodeError && error.retryable) return { kind: 'broken', page, error };
      throw error;
    }
  }
  const differences = reconcileBlock(decoder, mark, seqno, headers);
  const records = decoder.records - (mark[0] as number);
  if (differences.length === 0) {
    for (const fields of unknown) reportUnknown(context, fields);
    return { kind: 'balanced', records };
  }
  decoder.rollback(mark);
  const error = new AuditError(`audit ${name} ${seqno}: ${describeDifferences(differences)}`, {
    code: 'unbalanced',
    hint: `ask again later: tonlake run ${name} --range ${seqno}`,
  });
  return { kind: 'unbalanced', error };
}
