import { expect, test } from 'vitest';
import type { LinkReport } from '../../src/audit/header-links.ts';
import { blockId, type NamedHeader } from '../../src/chain/headers.ts';
import { fetchShardState } from '../../src/chain/index-ends.ts';
import { realEffects } from '../../src/core/effects.ts';
import { linkProof } from '../../src/export/span-proof.ts';
import { openSession } from '../../src/http/session.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { closing } from '../scratch.ts';

const sandbox = await startTestSandbox({ blocks: 7000, activity: 0 });
const { source } = closing(await openSession({ network: sandbox.url, effects: realEffects, rps: 1e6 }));

/** The shards do not move after this block. */
const LAST = 1000;
const SPAN = { from: 901, to: 6900 };

const before: readonly NamedHeader[] = await fetchShardState(source, SPAN.from - 1, 'test');
const still = await fetchShardState(source, LAST, 'test');
const quiet = still.find(({ workchain, mcSeqno }) => workchain === 0 && mcSeqno === LAST) as NamedHeader;
const masterId = (seqno: number): string => blockId(-1, '-9223372036854775808', seqno);

const NONE = { ended: [], stray: [], unlinked: [], misplaced: [], disordered: [], twice: [], older: [] } as const;

test.each([
  ['the first whose state names it', [], LAST],
  ['one without a list', [3000], 3000],
] as const)(
  'of a quiet shard, the list that lacks a header is %s, found with few states',
  async (_, absent, wanted) => {
    interface Row {
      readonly workchain: number;
    }
    const shards = JSON.parse(sandbox.ask(`/masterchainBlockShardState?seqno=${LAST}`).body.toString()).blocks.filter(
      ({ workchain }: Row) => workchain === 0,
    );
    sandbox.changeAnswers(({ path, query }, answer) => {
      if (path !== '/masterchainBlockShardState' || Number(query.get('seqno')) <= LAST) return undefined;
      return withRows<Row>(answer, 'blocks', (rows) => [
        ...rows.filter(({ workchain }) => workchain === -1),
        ...shards,
      ]);
    });
    const report: LinkReport = {
      ...{ ...NONE, blocks: 0, contradicted: [], uncommitted: [] },
      missing: [
        { id: quiet.id, seenFrom: SPAN.to },
        ...absent.map((seqno) => ({ id: masterId(seqno), seenFrom: seqno })),
      ],
    };
    const proof = linkProof({
      ...{ source, pipeline: 'test', first: 1, proven: undefined, holes: undefined },
      known: { span: SPAN, only: [SPAN], before, after: await fetchShardState(source, SPAN.to, 'test') },
      committed: { contradictionUntil: async () => undefined, contradictionAfter: async () => undefined },
    });
    sandbox.requests.reset();
    const { signal } = new AbortController();
    const bad = await proof.audit({ signal, answered: new Set(), links: async () => report });
    expect(bad.map(({ seqno }) => seqno)).toEqual([wanted]);
    expect(sandbox.requests.targets.length).toBeLessThan(40);
  },
);
