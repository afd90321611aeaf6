import { describe, expect, test } from 'vitest';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { independentTurns, planRound, type RoundInput } from '../../src/follow/round-plan.ts';
import type { LedgerEntry } from '../../src/warehouse/index.ts';

const pipeline = (name: string, walk: object): PipelineDef =>
  ({ name, walk, needs: [], provenBy: [], tables: [] }) as unknown as PipelineDef;

const headers = pipeline('h', { kind: 'masterchain' });
const list = pipeline('l', { kind: 'block', lookBack: 100 });
const reading = pipeline('r', { kind: 'snapshot' });

const entry = (of: string, from: number, to: number, asOf?: number): LedgerEntry =>
  ({
    ...{ pipeline: of, span: { from, to }, verdict: 'accepted', tables: {} },
    ...(asOf === undefined ? {} : { asOf: { from: asOf, to: asOf } }),
  }) as unknown as LedgerEntry;

const plan = (change: Partial<RoundInput>) => {
  const { window, turns } = planRound({
    ...{ pipelines: [headers, list, reading], ledger: [], forgotten: [], head: 1000, due: new Set<string>() },
    ...{ requested: [{ from: 1, to: 1000 }], deferred: () => [] },
    ...change,
  });
  return {
    window,
    turns: turns.map(({ pipeline: { name }, requested }) => [name, ...requested.map((s) => `${s.from}:${s.to}`)]),
  };
};

describe('a round', () => {
  test('takes what any pipeline lacks, each pipeline its own part', () => {
    const ledger = [entry('h', 1, 1000), entry('l', 1, 900, 1000), entry('l', 905, 1000, 1000)];
    expect(plan({ ledger })).toEqual({ window: [{ from: 901, to: 904 }], turns: [['l', '901:904']] });
  });

  test('takes the oldest two thousand blocks of many', () => {
    const ledger = [entry('h', 1, 10)];
    const requested = [{ from: 1, to: 9_000 }];
    expect(plan({ requested, ledger, head: 9_000, pipelines: [headers] }).turns).toEqual([['h', '11:2010']]);
  });

  test('reads a list once more when its rows are final, not before, and not twice', () => {
    const ledger = [
      entry('h', 1, 1000),
      entry('l', 1, 800, 950),
      entry('l', 801, 900, 950),
      entry('l', 901, 1000, 1000),
    ];
    expect(plan({ ledger, head: 1000 }).turns).toEqual([['l', '801:900']]);
    expect(plan({ ledger, head: 999 }).turns).toEqual([]);
    const again = [...ledger.filter(({ span }) => span.from !== 801), entry('l', 801, 900, 1000)];
    expect(plan({ ledger: again }).turns).toEqual([]);
  });

  test('leaves out blocks that failed, and those that were removed on purpose', () => {
    const deferred = (name: string) => (name === 'h' ? [{ from: 10, to: 10 }] : []);
    const forgotten = [{ pipeline: 'h', by: 'retention', spans: [{ from: 1, to: 5 }] }] as const;
    const requested = [{ from: 1, to: 12 }];
    expect(plan({ requested, deferred, forgotten, pipelines: [headers] }).turns).toEqual([['h', '6:9', '11:12']]);
  });

  test('reads changing lists when they are due, over all that is followed', () => {
    const ledger = [entry('h', 1, 1000), entry('l', 1, 1000, 2000)];
    expect(plan({ ledger }).turns).toEqual([]);
    expect(plan({ ledger, due: new Set(['r']) })).toEqual({ window: [], turns: [['r', '1:1000']] });
  });
});

test('neighbouring lists that do not read each other are independent', () => {
  const list = (name: string, provenBy: readonly string[] = []) => ({
    pipeline: { ...pipeline(name, { kind: 'lt' }), provenBy },
    requested: [],
  });
  const lookup = { pipeline: pipeline('keys', { kind: 'lookup' }), requested: [] };
  const rows = { pipeline: pipeline('rows', { kind: 'masterchain' }), requested: [] };
  const turns = [
    { ...rows, pipeline: headers },
    rows,
    list('a', ['rows']),
    list('b', ['rows']),
    list('c', ['a']),
    list('d'),
    lookup,
  ];
  expect(independentTurns(turns).map((group) => group.map((turn) => turn.pipeline.name))).toEqual([
    ['h'],
    ['rows'],
    ['a', 'b'],
    ['c', 'd'],
    ['keys'],
  ]);
});
