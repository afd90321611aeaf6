import { blockId, type Header, type NamedHeader } from '../chain/headers.ts';
import { coversAll, haveCommonAddresses, QUIET_BLOCKS } from '../chain/shards.ts';
import { AuditError } from '../core/errors.ts';
import { intersectSpans, type Span, unionSpans } from '../core/span.ts';
import { doneSpans } from '../warehouse/index.ts';
import { headersFrom } from './block-before.ts';
import type { WalkContext } from './walk-context.ts';

/** Code of the error for a shard state that committed headers contradict. */
export const OTHER_HEADERS = 'other-headers';

/** The committed headers. What the source says of the same blocks must agree with them. */
export class CommittedHeaders {
  private readonly context: Pick<WalkContext, 'sink' | 'registry' | 'pipeline'>;

  constructor(context: CommittedHeaders['context']) {
    this.context = context;
  }

  /** Masterchain blocks with committed headers. */
  get spans(): readonly Span[] {
    const { sink, registry } = this.context;
    const hasHeaders = registry.tables.some(({ plays }) => plays === 'headers');
    return hasHeaders ? doneSpans(sink.ledger(), registry.playing('headers').pipeline.name) : [];
  }

  /** The latest block of every shard at a masterchain block; undefined if they are not committed. */
  async stateAt(seqno: number): Promise<readonly NamedHeader[] | undefined> {
    const newest = await this.nearest(seqno, -1);
    return coversAll(newest) ? newest : undefined;
  }

  /** Least logical time of a masterchain block and those after it; undefined if its headers are not committed. */
  async startOf(seqno: number): Promise<bigint | undefined> {
    const starts = (await this.nearest(seqno, 1)).map(({ startLt }) => startLt);
    return starts.reduce<bigint | undefined>(
      (least, lt) => (least === undefined || lt < least ? lt : least),
      undefined,
    );
  }

  /** One block of every shard: the last ones until a masterchain block, or the first ones from it on. */
  private async nearest(seqno: number, direction: 1 | -1): Promise<readonly NamedHeader[]> {
    const run = this.spans.find(({ from, to }) => from <= seqno && seqno <= to);
    const found: NamedHeader[] = [];
    if (run === undefined) return found;
    const near = { from: Math.max(run.from, seqno - QUIET_BLOCKS), to: Math.min(run.to, seqno + QUIET_BLOCKS) };
    for await (const header of headersFrom(this.context.sink, seqno, direction, near)) {
      if (found.some((other) => haveCommonAddresses(other, header))) continue;
      found.push(named(header));
      if (coversAll(found)) break;
    }
    return found;
  }

  private async headersOf(span: Span): Promise<NamedHeader[]> {
    const headers = [...(await this.context.sink.headers(span)).values()].flat();
    return headers.map(named);
  }

  /** Ids of the committed blocks in some spans. */
  async idsIn(spans: readonly Span[]): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (const span of spans) for (const { id } of await this.headersOf(span)) ids.add(id);
    return ids;
  }

  /** Blocks of a shard state that the committed headers of their masterchain blocks lack. */
  async lackingOf(state: readonly NamedHeader[]): Promise<readonly NamedHeader[]> {
    const own = intersectSpans(unionSpans(state.map(({ mcSeqno: seqno }) => ({ from: seqno, to: seqno }))), this.spans);
    const ids = new Set<string>();
    for (const span of own) for (const { id, mcSeqno } of await this.headersOf(span)) ids.add(`${mcSeqno} ${id}`);
    const isOwn = (seqno: number): boolean => own.some(({ from, to }) => from <= seqno && seqno <= to);
    return state.filter(({ id, mcSeqno }) => isOwn(mcSeqno) && !ids.has(`${mcSeqno} ${id}`));
  }

  /** The error for a state at a masterchain block, if the headers that are committed up to it lack a block that it names. */
  async contradictionUntil(seqno: number, state: readonly NamedHeader[]): Promise<AuditError | undefined> {
    if (!this.isDone(seqno)) return undefined;
    const [block] = await this.lackingOf(state);
    if (block === undefined) return undefined;
    const { id, mcSeqno } = block;
    const expected = `block ${id} of the shard state of ${seqno} in the committed headers of ${mcSeqno}`;
    return this.error(seqno + 1, `expected ${expected}, got none`);
  }

  /** The error for a state at a masterchain block, if it lacks a block that the committed headers after it follow. */
  async contradictionAfter(seqno: number, state: readonly NamedHeader[]): Promise<AuditError | undefined> {
    const { sink } = this.context;
    if (!this.isDone(seqno + 1)) return undefined;
    const blocks = (await sink.linked?.(seqno + 1)) ?? [];
    const named = new Set([...state, ...blocks].map(({ id }) => id));
    const lost = blocks.flatMap(({ prev }) => prev).find(({ id }) => !named.has(id));
    if (lost === undefined) return undefined;
    const expected = `block ${lost.id} in the shard state of ${seqno}, which committed headers of ${seqno + 1} follow`;
    return this.error(seqno, `expected ${expected}, got none`);
  }

  private isDone(seqno: number): boolean {
    return this.spans.some(({ from, to }) => from <= seqno && seqno <= to);
  }

  private error(seqno: number, what: string): AuditError {
    return new AuditError(`audit ${this.context.pipeline.name} ${seqno}: ${what}`, { code: OTHER_HEADERS });
  }
}

function named(header: Header): NamedHeader {
  return { ...header, id: blockId(header.workchain, header.shard, header.seqno) };
}
