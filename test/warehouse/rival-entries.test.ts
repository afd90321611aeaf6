import { expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { requireUnrivalled } from '../../src/warehouse/ledger/rival-entries.ts';
import type { CommitDraft, LedgerEntry } from '../../src/warehouse/store.ts';
import { draftOf } from './warehouses.ts';

const { pipelines } = await loadRegistry();
const BLOCKS = { from: 10, to: 19 };
const LIST = { pipeline: 'account_latest' };
const day = (name: string): Pick<CommitDraft, 'mart'> => ({
  mart: { day: name, inputs: '', coverage: 'proven', reads: [], through: 0 },
});

/** Entry 5 of another writer. */
const rivalOf = (more: Partial<LedgerEntry>): LedgerEntry => ({
  ...draftOf(BLOCKS, { pipeline: 'transactions' }),
  ...{ format: 1, id: 'e5', number: 5, tables: {}, committedAt: '2026-05-01T00:00:00.000Z', ...more },
});

/** True if a commit of blocks 19 to 28 is refused beside a rival entry, which has replaced entry 3. */
function isRefused(draft: Partial<CommitDraft>, rival: Partial<LedgerEntry> = {}): boolean {
  const options = {
    draft: draftOf({ from: 19, to: 28 }, { pipeline: 'transactions', ...draft }),
    ...{ id: 'own', rivals: [rivalOf(rival)], isReplaced: (id: string) => ['e3', 'own'].includes(id), pipelines },
  };
  try {
    requireUnrivalled(options);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'committed-meanwhile', retryable: true });
    return true;
  }
}

test.each([
  ['a block that is there', true, {}, {}],
  ['a block that is there of a pipeline that is not known', true, { pipeline: 'own' }, { pipeline: 'own' }],
  ['other blocks', false, {}, { span: { from: 10, to: 18 } }],
  [
    'a hole of the rival',
    false,
    {},
    {
      span: { from: 10, to: 30 },
      spans: [
        { from: 10, to: 18 },
        { from: 29, to: 30 },
      ],
    },
  ],
  ['a block of another pipeline', false, {}, { pipeline: 'blocks' }],
  ['what takes the place of the rival', false, { supersedes: ['e5'] }, {}],
  ['what takes the place of an entry that is replaced', true, { supersedes: ['e3'] }, { pipeline: 'blocks' }],
  ['what takes the place of one that is not', false, { supersedes: ['e4'] }, { pipeline: 'blocks' }],
  ['entries of one commit, the last of which names itself', false, { supersedes: ['own'] }, { pipeline: 'blocks' }],
  ['a mark of forgotten blocks', false, { forgotten: { by: 'command' } }, {}],
  ['the same day of a mart', true, day('2026-05-01'), day('2026-05-01')],
  ['another day of a mart', false, day('2026-05-02'), day('2026-05-01')],
  ['keys that were chosen after the rival', false, { ...LIST, seen: 5 }, LIST],
  ['keys that were chosen before the rival', true, { ...LIST, seen: 4 }, LIST],
  ['keys beside some in quarantine', false, { ...LIST, seen: 4 }, { ...LIST, verdict: 'quarantined' }],
  ['keys that no rival can have', false, LIST, LIST],
] as const)('%s: refused %s', (_, refused, draft, rival) => {
  expect(isRefused(draft, rival)).toBe(refused);
});
