import { describe, expect, it } from 'vitest';
import { ask, type Block, nameOf, type Transaction } from '../sandbox/support.ts';
import { NO_FAULTS } from './faults.ts';
import { DEEP_LIES, LIE_KINDS, LIES, type Lie, type LieKind, MESSAGE_LIES } from './lie-kinds.ts';
import { startTestSandbox } from './test-sandbox.ts';
import { type ShownTransaction, shownTransaction, swappable } from './transaction-lies.ts';

type Row = Block | Transaction;
type Listing = readonly string[];

const sandbox = await startTestSandbox({ blocks: 400 });
const N = await suitable();
const truth = await readAll();

async function read(paths: readonly string[]): Promise<string[]> {
  const texts: string[] = [];
  for (const path of paths) {
    const { status, body } = await ask(sandbox, `${path}&limit=1000`, { 'X-No-Address-Book': '1' });
    if (status === 404) continue;
    expect([path, status]).toEqual([path, 200]);
    const parsed: { blocks?: Row[]; transactions?: Row[] } = JSON.parse(body);
    texts.push(...(parsed.blocks ?? parsed.transactions ?? []).map((row) => JSON.stringify(row)));
  }
  return texts;
}

/** A masterchain block about which every lie can be told. */
async function suitable(): Promise<number> {
  for (let seqno = 300; ; seqno += 1) {
    const rows: Transaction[] = (await read([`/transactions?mc_seqno=${seqno}`])).map((text) => JSON.parse(text));
    const next: Transaction[] = (await read([`/transactions?mc_seqno=${seqno + 1}`])).map((text) => JSON.parse(text));
    const blocks: Block[] = (await read([`/blocks?mc_seqno=${seqno}`])).map((text) => JSON.parse(text));
    const sent = rows.some((row) => row.out_msgs.some((message) => message.destination !== null));
    const logged = rows.some((row) => row.out_msgs.some((message) => message.destination === null));
    const many = rows.some((row) => row.out_msgs.length > 1);
    const bounced = rows.some((row) => row.description.bounce?.type === 'ok');
    const busy = blocks.some((block) => block.workchain === 0 && block.tx_count > 4);
    const ltsOf = ({ block }: ShownTransaction) => {
      const own = blocks.find((each) => nameOf(each) === nameOf(block));
      return [Number(own?.start_lt), Number(own?.end_lt)] as const;
    };
    const pair = swappable({ rows: rows.map((row) => shownTransaction(JSON.stringify(row))), ltsOf });
    if (pair.length === 0) continue;
    if (sent && logged && many && bounced && busy && next.some((row) => row.block_ref.workchain === 0)) return seqno;
  }
}

/** Every way to list the blocks and transactions of N; the windows reach a little beyond. */
async function readAll(): Promise<Record<string, Listing>> {
  const seqnos = [N, N + 1];
  const lt = (slot: number): string => String(66_000_000_000_000 + slot * 2_000_000);
  const ltWindow = `start_lt=${lt(N - 5)}&end_lt=${lt(N + 1)}`;
  const utime = Math.floor(Date.UTC(2026, 4, 2) / 1000 - 2000 + (N * 2) / 5);
  const timeWindow = `start_utime=${utime - 4}&end_utime=${utime + 1}`;
  return {
    'blocks by mc_seqno': await read(seqnos.map((seqno) => `/blocks?mc_seqno=${seqno}`)),
    'blocks by lt': await read([`/blocks?${ltWindow}`]),
    'blocks by utime': await read([`/blocks?sort=desc&${timeWindow}`]),
    'blocks by shards': await read(seqnos.map((seqno) => `/masterchainBlockShards?seqno=${seqno}`)),
    'state by state': await read([`/masterchainBlockShardState?seqno=${N}`]),
    'transactions by block': await read(seqnos.map((seqno) => `/transactionsByMasterchainBlock?seqno=${seqno}`)),
    'transactions by mc_seqno': await read(seqnos.map((seqno) => `/transactions?sort=asc&mc_seqno=${seqno}`)),
    'transactions by lt': await read([`/transactions?${ltWindow}`]),
    'transactions by utime': await read([`/transactions?sort=asc&${timeWindow}`]),
  };
}

function less(a: Listing, b: Listing): string[] {
  const left = new Map<string, number>();
  for (const text of b) left.set(text, (left.get(text) ?? 0) + 1);
  return a.filter((text) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
}

/** What a lie is about. Of a list that ends too early each way of listing shows another part. */
function subjectOf(kind: LieKind): 'blocks' | 'transactions' | 'state' {
  if (/^state-(shard|older|never)/.test(kind)) return 'state';
  return /header|count|^prev-(unknown|itself|empty)|^mc-|lt-late|lt-early|^blocks/.test(kind)
    ? 'blocks'
    : 'transactions';
}

describe('a lie', () => {
  it.each(LIE_KINDS)('%s shows in every listing concerned, the same in all, until it is taken back', async (kind) => {
    sandbox.setFaults({ lies: [{ seqno: N, kind }] });
    const told = await readAll();
    sandbox.setFaults(NO_FAULTS);
    const subject = subjectOf(kind);
    const changes = new Set<string>();
    for (const [name, listing] of Object.entries(told)) {
      const before = truth[name] ?? [];
      const gone = less(before, listing);
      const come = less(listing, before);
      const changed = gone.length + come.length > 0;
      if (name.startsWith(subject)) {
        expect([name, changed]).toEqual([name, true]);
        changes.add(JSON.stringify([gone.sort(), kind === 'hash-changes' ? come.length : come.sort()]));
      } else if (!name.startsWith('state')) expect([name, changed]).toEqual([name, false]);
    }
    if (!/-(half|empty)$/.test(kind) || kind === 'prev-empty') expect(changes.size).toBe(1);
    expect(LIES[kind].length).toBeGreaterThan(10);
  });

  it.each([...MESSAGE_LIES, ...DEEP_LIES])(
    '%s agrees with every header: the same rows at the same places',
    async (kind) => {
      const lie: Lie = { seqno: N, kind };
      sandbox.setFaults({ lies: [lie] });
      const placed = (texts: readonly string[]): string[] =>
        texts
          .map((text) => JSON.parse(text))
          .map((row: Transaction) => `${row.hash} ${row.lt} ${nameOf(row.block_ref)}`);
      const told = await read([`/transactions?mc_seqno=${N}`, `/transactions?mc_seqno=${N + 1}`]);
      sandbox.setFaults(NO_FAULTS);
      const known = await read([`/transactions?mc_seqno=${N}`, `/transactions?mc_seqno=${N + 1}`]);
      expect(placed(told)).toEqual(placed(known));
      expect(told).not.toEqual(known);
    },
  );

  it('taken back leaves no trace', async () => {
    sandbox.setFaults({ lies: LIE_KINDS.map((kind) => ({ seqno: N, kind })) });
    expect(await readAll()).not.toEqual(truth);
    sandbox.setFaults(NO_FAULTS);
    const again = await readAll();
    for (const [name, listing] of Object.entries(truth))
      expect([...(again[name] ?? [])].sort()).toEqual([...listing].sort());
  });

  it('about a header or a transaction also stands in what is asked by id or by hash', async () => {
    const rows: Block[] = (truth['blocks by mc_seqno'] ?? []).map((text) => JSON.parse(text));
    const mine = rows.filter((row) => row.masterchain_block_ref.seqno === N && row.workchain === 0);
    const about = mine
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
      .reduce((best, row) => (row.tx_count > best.tx_count ? row : best));
    const path = `/blocks?workchain=0&shard=${about.shard}&seqno=${about.seqno}`;
    sandbox.setFaults({ lies: [{ seqno: N, kind: 'shard-header-missing' }] });
    expect(await read([path])).toEqual([]);
    expect(await read([`/blocks?root_hash=${encodeURIComponent(about.root_hash)}`])).toEqual([]);
    sandbox.setFaults({ lies: [{ seqno: N, kind: 'shard-count-up' }] });
    const told: Block = JSON.parse((await read([path]))[0] ?? '');
    expect([nameOf(told), told.tx_count]).toEqual([nameOf(about), about.tx_count + 1]);
    sandbox.setFaults({ lies: [{ seqno: N, kind: 'header-other-seqno' }] });
    expect(await read([`/blocks?workchain=0&shard=${about.shard}&seqno=${about.seqno + 500_000}`])).toHaveLength(1);
    const first: Transaction = JSON.parse(
      truth['transactions by mc_seqno']?.find((text) => text.includes(`"mc_block_seqno":${N}`)) ?? '',
    );
    sandbox.setFaults({ lies: [{ seqno: N, kind: 'transaction-missing-first' }] });
    expect(await read([`/transactions?hash=${encodeURIComponent(first.hash)}`])).toEqual([]);
    sandbox.setFaults(NO_FAULTS);
    expect(await read([`/transactions?hash=${encodeURIComponent(first.hash)}`])).toHaveLength(1);
  });
});
