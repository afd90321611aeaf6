import { type Header, headerId, parseHeaders } from '../audit/header.ts';
import { findLinkGaps, type LinkGaps, type ShardState } from '../audit/links.ts';
import { AuditError, TonlakeError } from '../errors.ts';
import { Setback } from '../source/setback.ts';
import type { Span } from '../span.ts';
import { fetchShardState } from './chain.ts';
import type { WalkContext } from './context.ts';
import { inOrder, seqnosOf } from './ordered.ts';
import { keepRefused, reportProblem, reportUnknown } from './report.ts';
import { SpanWriter } from './spanwriter.ts';

/** Masterchain blocks that are proven together; each piece costs two requests for the states at its ends. */
export const HEADER_PIECE = 1000;
const ROUNDS = 3;

interface HeaderPage {
  readonly seqno: number;
  readonly body: Buffer;
  readonly request: string;
  readonly headers: readonly Header[];
}

/**
 * Fetches the headers of every masterchain block of some spans, proves by their links that no block is missing, and commits
 * them. What cannot be proven is reported and left out.
 */
export async function walkHeaders(context: WalkContext, missing: readonly Span[]): Promise<void> {
  const writer = new SpanWriter(context);
  try {
    for (const span of missing) {
      for (let from = span.from; from <= span.to && !context.stop.aborted; from += HEADER_PIECE) {
        await walkPiece(context, writer, { from, to: Math.min(span.to, from + HEADER_PIECE - 1) });
      }
    }
    await writer.end();
  } finally {
    await writer.abandon();
  }
}

async function walkPiece(context: WalkContext, writer: SpanWriter, piece: Span): Promise<void> {
  const pages = new Map<number, HeaderPage>();
  const seqnos = seqnosOf([piece]);
  let to = piece.to;
  for await (const { key, value } of inOrder(seqnos, context.ahead, (seqno, signal) =>
    tryPage(context, seqno, signal),
  )) {
    if (value instanceof TonlakeError) reportProblem(context, { from: key, to: key }, value);
    else pages.set(key, value);
    context.report({ event: 'progress', pipeline: context.pipeline.name, seqno: key, records: 0 });
    if (context.stop.aborted) {
      to = key;
      break;
    }
  }
  for (const run of runsOf(pages, { from: piece.from, to })) await proveAndAdd(context, writer, run, pages);
}

/** A hole is an ordinary result; any other failure ends the walk. */
async function tryPage(context: WalkContext, seqno: number, signal: AbortSignal): Promise<HeaderPage | TonlakeError> {
  try {
    return await fetchPage(context, seqno, signal);
  } catch (error) {
    if (error instanceof TonlakeError && error.code === 'not-indexed') return error;
    throw error;
  }
}

async function fetchPage(context: WalkContext, seqno: number, signal?: AbortSignal): Promise<HeaderPage> {
  const { pipeline, source } = context;
  const { endpoint, parameters, walk } = pipeline;
  const label = `${pipeline.name} ${seqno}`;
  const query = [[walk.seqno, String(seqno)], ['limit', '1000'], ...Object.entries(parameters)] as const;
  return source.fetch(
    { path: endpoint.replace(/^GET /, ''), query, missing: 'wait', label },
    ({ body, request }) => {
      const headers = parseHeaders(body, request);
      if (headers.some((header) => header.workchain === -1 && header.seqno === seqno)) {
        return { seqno, body, request, headers };
      }
      throw new Setback(label, {
        code: 'not-indexed',
        what: `block ${seqno} is still not indexed`,
        hint: 'ask again later, or raise --wait',
        pause: { kind: 'poll' },
      });
    },
    { signal },
  );
}

async function proveAndAdd(
  context: WalkContext,
  writer: SpanWriter,
  run: Span,
  pages: Map<number, HeaderPage>,
): Promise<void> {
  const before = await stateAt(context, run.from - 1);
  const after = await stateAt(context, run.to);
  let gaps = gapsOf(pages, run, before, after);
  for (let round = 1; round < ROUNDS && !isWhole(gaps); round++) {
    for (const seqno of await seqnosToAsk(context, gaps, run)) pages.set(seqno, await fetchPage(context, seqno));
    gaps = gapsOf(pages, run, before, after);
  }
  if (isWhole(gaps)) {
    for (let seqno = run.from; seqno <= run.to; seqno++) await add(context, writer, pages.get(seqno) as HeaderPage);
    return;
  }
  for (const seqno of await seqnosToAsk(context, gaps, run)) {
    const message = `audit ${context.pipeline.name} ${seqno}: ${describeGaps(gaps)}`;
    reportProblem(context, { from: seqno, to: seqno }, new AuditError(message, { code: 'unlinked' }));
    pages.delete(seqno);
  }
  for (const rest of runsOf(pages, run)) await proveAndAdd(context, writer, rest, pages);
}

function isWhole({ missing, stray }: LinkGaps): boolean {
  return missing.length === 0 && stray.length === 0;
}

function gapsOf(pages: ReadonlyMap<number, HeaderPage>, run: Span, before: ShardState, after: ShardState): LinkGaps {
  const headers: Header[] = [];
  for (let seqno = run.from; seqno <= run.to; seqno++) headers.push(...(pages.get(seqno)?.headers ?? []));
  return findLinkGaps(headers, run, before, after);
}

/** The masterchain blocks whose lists have to be asked for again: those of stray blocks, and those that a missing block is in. */
async function seqnosToAsk(context: WalkContext, gaps: LinkGaps, run: Span): Promise<readonly number[]> {
  const seqnos = new Set(gaps.stray.map((header) => header.mcSeqno));
  for (const { id, seenFrom } of gaps.missing) {
    const found = await findBlock(context, id);
    const seqno = found?.mcSeqno ?? seenFrom;
    seqnos.add(seqno >= run.from && seqno <= run.to ? seqno : seenFrom);
  }
  return [...seqnos].sort((a, b) => a - b);
}

async function findBlock(context: WalkContext, id: string): Promise<Header | undefined> {
  const [workchain = '', shard = '', seqno = ''] = id.split(':');
  const hex = BigInt.asUintN(64, BigInt(shard)).toString(16).toUpperCase();
  const query = [
    ['workchain', workchain],
    ['shard', hex],
    ['seqno', seqno],
    ['limit', '10'],
  ] as const;
  return context.source.fetch(
    { path: '/blocks', query, label: `${context.pipeline.name} ${id}` },
    ({ body, request }) => parseHeaders(body, request).find((header) => headerId(header) === id),
  );
}

function describeGaps({ missing, stray }: LinkGaps): string {
  const parts = [
    missing[0] === undefined
      ? ''
      : `expected all linked blocks, got none for ${missing[0].id} (${missing.length} missing)`,
    stray[0] === undefined ? '' : `expected linked blocks only, got ${headerId(stray[0])} (${stray.length} stray)`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}

async function stateAt(context: WalkContext, seqno: number): Promise<ShardState> {
  if (seqno < context.first) return undefined;
  return fetchShardState(context.source, seqno, `${context.pipeline.name} ${seqno}`);
}

async function add(context: WalkContext, writer: SpanWriter, page: HeaderPage): Promise<void> {
  const mark = await writer.begin(page.seqno);
  const scanned = writer.decoder.decode(page.body);
  reportUnknown(context, scanned.unknown);
  if (scanned.refused.length === 0) return writer.add(page.seqno, scanned.records);
  writer.decoder.rollback(mark);
  await keepRefused(context, writer, page.seqno, page.request, scanned.refused);
}

function* runsOf(pages: ReadonlyMap<number, HeaderPage>, within: Span): Generator<Span> {
  let from: number | undefined;
  for (let seqno = within.from; seqno <= within.to + 1; seqno++) {
    const isThere = seqno <= within.to && pages.has(seqno);
    if (isThere) from ??= seqno;
    else if (from !== undefined) {
      yield { from, to: seqno - 1 };
      from = undefined;
    }
  }
}
