import type { Header } from '../chain/headers.ts';
import { formatSpans, haveCommon, intersectSpans, type Span } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { isMasterchain, proofOf } from '../declare/pipeline.ts';
import { type CommitPart, type Rewrite, selectStaged, spansOf } from '../warehouse/index.ts';
import { readAgain, reportIncomplete } from './rewrite-entry.ts';
import type { EngineContext } from './run-context.ts';
import { readHeaders } from './store-sink.ts';
import { spanEvent } from './walk-context.ts';

/** Fetches blocks with the pipeline of a context. */
type Walk = (collecting: EngineContext, missing: readonly Span[]) => Promise<unknown>;

/**
 * Replaces the committed headers of blocks that lack one of their shard blocks, and the rows that they count, in one commit.
 *
 * @param context of the pipeline of headers
 * @returns false if the source does not have all of them: then nothing changes
 */
export async function rereadBlocks(context: EngineContext, blocks: readonly Span[], walk: Walk): Promise<boolean> {
  const { sink, registry, pipeline, report } = context;
  const counted = registry.pipelines.filter((each) => isMasterchain(each) && proofOf(each) === 'tx_count');
  // The committed rows agree with the headers that are to be replaced.
  const ledger = () => sink.ledger().filter((entry) => counted.every(({ name }) => name !== entry.pipeline));
  const headers = await readEntries({ ...context, sink: { ...sink, ledger } }, blocks, walk);
  if (headers === undefined) return false;
  const fresh = await headersIn(context, headers);
  const rewrites = [...headers];
  for (const each of counted) {
    const own = { ...sink, headers: async (span: Span) => new Map([...(await sink.headers(span)), ...fresh]) };
    const rows = await readEntries({ ...context, pipeline: each, sink: own }, blocks, walk);
    if (rows === undefined) return false;
    rewrites.push(...rows);
  }
  for (const entry of await sink.rewrite(rewrites)) report(spanEvent(entry));
  for (const { from, to } of blocks) {
    const fact =
      'the source has a block that it left out when its headers were committed; they were read again, with their rows';
    const message = `walk ${pipeline.name} ${formatSpans([{ from, to }])}: ${fact}`;
    const hint = `${suggest('verify', '--repair')} reads the lists of these blocks again`;
    report({
      event: 'problem',
      pipeline: pipeline.name,
      from,
      to,
      code: 'read-again',
      message: `${message}; hint: ${hint}`,
    });
  }
  return true;
}

/** Reads blocks of all entries of a pipeline again; undefined if some cannot be had, which is reported. */
async function readEntries(
  context: EngineContext,
  blocks: readonly Span[],
  walk: Walk,
): Promise<readonly Rewrite[] | undefined> {
  const { sink, pipeline, stop } = context;
  const rewrites: Rewrite[] = [];
  for (const entry of sink.ledger()) {
    if (entry.pipeline !== pipeline.name || entry.verdict !== 'accepted' || !haveCommon(spansOf(entry), blocks))
      continue;
    const missing = intersectSpans(spansOf(entry), blocks);
    const got = await readAgain(context, entry, (collecting) => walk(collecting, missing), missing);
    if (typeof got === 'string') {
      if (!stop.aborted) reportIncomplete(context, entry, got);
      return undefined;
    }
    rewrites.push(got);
  }
  return rewrites;
}

/** Headers that were read again, by masterchain seqno. */
async function headersIn(
  { sink }: EngineContext,
  rewrites: readonly Rewrite[],
): Promise<Map<number, readonly Header[]>> {
  const found = new Map<number, readonly Header[]>();
  const read = (own: Rewrite, { staged, draft }: CommitPart) => {
    const [table] = own.pipeline.tables;
    return table === undefined ? new Map() : readHeaders(sink.query, draft.span, `(${selectStaged(table, staged)})`);
  };
  for (const own of rewrites) {
    for (const part of own.read) for (const [seqno, list] of await read(own, part)) found.set(seqno, list);
  }
  return found;
}
