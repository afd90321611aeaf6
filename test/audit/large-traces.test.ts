import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { query } from '../e2e/export.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';

const RANGE = '1000:1029';
/** Transactions of a trace from which on this source lists none. */
const MOST = 3;

interface SentTrace {
  readonly trace_id: string;
  readonly is_incomplete: boolean;
  readonly trace_info: { readonly transactions: number };
}

const sandbox = await startTestSandbox({ blocks: 4000 });

/** A source as of a large trace: marked, without transactions and actions. @returns the ids of those that it has sent */
function startLimited() {
  const large = new Set<string>();
  const asked: string[] = [];
  sandbox.changeAnswers(({ path, target }, answer) => {
    asked.push(target);
    if (path === '/traces') {
      return withRows<SentTrace>(answer, 'traces', (traces) =>
        traces.map((trace) => {
          if (trace.trace_info.transactions < MOST) return trace;
          large.add(trace.trace_id);
          const none = { actions: [], transactions: {}, transactions_order: [], trace: null };
          return { ...trace, ...none, is_incomplete: true, warning: 'trace is too large' };
        }),
      );
    }
    if (path !== '/actions') return undefined;
    return withRows<{ readonly trace_id: string }>(answer, 'actions', (actions) =>
      actions.filter(({ trace_id: id }) => !large.has(id)),
    );
  });
  return { large, asked };
}

test('actions of a trace that is too large for the index are neither requested by themselves nor missing', async () => {
  const { large, asked } = startLimited();
  const warehouse = join(freshFolder(), 'w');
  const pipelines = ['transactions', 'traces', 'actions'];
  const report = await run({ pipelines, network: sandbox.url, range: RANGE, warehouse });
  expect(report.complete).toBe(true);
  expect(large.size).toBeGreaterThan(10);
  const stored =
    'SELECT count(*), count(*) FILTER (is_incomplete), count(*) FILTER (is_incomplete AND transactions < 3) FROM traces';
  const [[all, marked, small] = []] = await query(warehouse, stored);
  expect(Number(marked)).toBeGreaterThan(10);
  expect(Number(all)).toBeGreaterThan(Number(marked));
  expect(small).toBe('0');
  const named = asked.filter((path) => [...large].some((id) => path.includes(encodeURIComponent(id))));
  expect(named.filter((path) => path.startsWith('/actions'))).toEqual([]);
  expect((await verify(warehouse)).findings).toEqual([]);
});
