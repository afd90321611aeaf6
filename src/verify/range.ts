import { UsageError } from '../errors.ts';
import type { Registry } from '../registry.ts';
import { formatSpans, type Span, subtractSpans, unionSpans } from '../span.ts';
import { doneSpans } from '../store/progress.ts';
import { parseRange, resolveRange } from '../walk/range.ts';
import type { Finding } from './finding.ts';
import type { Held } from './held.ts';

/**
 * The masterchain blocks that a verification is about. What is asked by a range and not done is a finding; without a range there is
 * nothing that could be missing.
 *
 * @throws {UsageError}
 */
export async function limitTo(
  held: Held,
  registry: Registry,
  range: string | undefined,
  report: (finding: Finding) => void,
): Promise<readonly Span[]> {
  const all = unionSpans(held.entries.map(({ span }) => span));
  if (range === undefined) return all;
  const asked = await resolveRange(parseRange(range), {
    head: async () => all.at(-1)?.to ?? 0,
    firstOfDay: (date) => seqnoOfDay(held, registry, date, 'min'),
    lastOfDay: (date) => seqnoOfDay(held, registry, date, 'max'),
  });
  const walksBlocks = registry.pipelines.filter(({ walk }) => ['masterchain', 'block', 'lt'].includes(walk.kind));
  for (const { name: pipeline } of walksBlocks) {
    if (!held.entries.some((entry) => entry.pipeline === pipeline)) continue;
    for (const span of subtractSpans(asked, doneSpans(held.entries, pipeline))) {
      report({
        kind: 'not-done',
        pipeline,
        span,
        expected: `${formatSpans([span])} done`,
        got: 'no entry that says so',
      });
    }
  }
  return asked;
}

async function seqnoOfDay(held: Held, registry: Registry, date: string, which: 'min' | 'max'): Promise<number> {
  const entries = held.entries.filter((entry) => entry.pipeline === 'blocks');
  const { rows } = await held.database.query(
    `SELECT ${which}(mc_block_seqno)::INTEGER FROM (${held.select(registry.table('blocks'), entries)})
     WHERE block_date = $date::DATE`,
    { date },
  );
  const [seqno] = rows[0] ?? [];
  if (typeof seqno === 'number') return seqno;
  throw new UsageError(`usage: expected a day that the warehouse holds, got ${date}`, { code: 'wrong-range' });
}
