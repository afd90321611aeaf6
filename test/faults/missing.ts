import { mixOf } from '../../src/sandbox/chain/mix.ts';
import type { SandboxAnswer, SandboxRequest } from '../../src/sandbox/index.ts';
import type { Faults } from './faults.ts';
import { type Ask, joined, listIn, pageOf, recordsUpTo, textOf, transactionsIn } from './lists.ts';
import { isHit } from './spoil.ts';

const SALTS = { lateBlocks: 0x1a7e, lateRows: 0x1a7f, lateShards: 0x1a80 } as const;

/** Time since a masterchain block was made, and now. */
interface Times {
  readonly ageMsOf: (seqno: number) => number;
  readonly nowMs: () => number;
}

/** Hides masterchain blocks, or parts of them, that the index does not have yet. */
export class Missing {
  readonly #seed: number;
  readonly #faults: () => Faults;
  readonly #times: Times;
  readonly #ask: Ask;
  readonly #asks = new Map<number, number>();
  #since: number;

  constructor(seed: number, faults: () => Faults, times: Times, ask: Ask) {
    this.#seed = seed;
    this.#faults = faults;
    this.#times = times;
    this.#ask = ask;
    this.#since = times.nowMs();
  }

  /** Opens all holes again. */
  reopen(): void {
    this.#asks.clear();
    this.#since = this.#times.nowMs();
  }

  #isHole(seqno: number): boolean {
    const { holes, holeRate, holeMs, holeAsks } = this.#faults();
    if (holes.length === 0 && holeRate === 0) return false;
    const isChosen = holes.includes(seqno) || isHit(holeRate, mixOf(this.#seed, seqno, 0x401e));
    return isChosen && this.#times.nowMs() - this.#since < holeMs && (this.#asks.get(seqno) ?? 0) < holeAsks;
  }

  #isLate(seqno: number, kind: keyof typeof SALTS): boolean {
    const { [kind]: rate, lateMs } = this.#faults();
    return rate > 0 && isHit(rate, mixOf(this.#seed, seqno, SALTS[kind])) && this.#times.ageMsOf(seqno) < lateMs;
  }

  /** Whether nothing of a masterchain block is there. */
  #isAbsent(seqno: number): boolean {
    return this.#isHole(seqno) || this.#isLate(seqno, 'lateBlocks');
  }

  #areRowsAbsent(seqno: number): boolean {
    return this.#isAbsent(seqno) || this.#isLate(seqno, 'lateRows');
  }

  /** The answer without what is missing. */
  answer(request: SandboxRequest, honest: SandboxAnswer): SandboxAnswer {
    const { holes, holeRate, lateBlocks, lateRows, lateShards } = this.#faults();
    if (holes.length === 0 && holeRate + lateBlocks + lateRows + lateShards === 0) return honest;
    const { path, query } = request;
    for (const name of path === '/blocks' ? ['mc_seqno'] : ['seqno', 'mc_seqno']) {
      const seqno = Number(query.get(name) ?? Number.NaN);
      this.#asks.set(seqno, (this.#asks.get(seqno) ?? 0) + 1);
    }
    if (honest.status !== 200) return honest;
    const seqno = Number(query.get(path === '/transactionsByMasterchainBlock' ? 'seqno' : 'mc_seqno') ?? -1);
    if (path !== '/blocks' && this.#areRowsAbsent(seqno)) {
      return { status: 404, body: `{"error":"masterchain block ${seqno} not found"}` };
    }
    if (path.startsWith('/masterchainBlockShard')) {
      return this.#isAbsent(Number(query.get('seqno')))
        ? { status: 404, body: '{"error":"blocks not found"}' }
        : honest;
    }
    return this.#withoutHidden(request, honest);
  }

  #withoutHidden(request: SandboxRequest, honest: SandboxAnswer): SandboxAnswer {
    const shown = this.#shownOf(request.path);
    const list = shown && listIn(textOf(honest));
    if (shown === undefined || list === undefined) return honest;
    const { from, to } = pageOf(request);
    const kept = list.records.flatMap(shown);
    if (from === 0 && kept.join() === list.records.join()) return honest;
    const records = recordsUpTo(request, this.#ask).flatMap(shown).slice(from, to);
    return { ...honest, body: joined({ ...list, records }) };
  }

  /** What is shown of a record of a list: itself, a part, or nothing. */
  #shownOf(path: string): ((record: string) => readonly string[]) | undefined {
    const unless = (isHidden: (record: string) => boolean) => (record: string) => (isHidden(record) ? [] : [record]);
    switch (path) {
      case '/blocks':
        return unless((record) => this.#isAbsent(numberIn(record, /"masterchain_block_ref":\{[^}]*"seqno":(\d+)/)));
      case '/transactions':
      case '/transactionsByMasterchainBlock':
      case '/transactionsByMessage':
      case '/adjacentTransactions':
        return unless((record) => this.#isTransactionHidden(record));
      case '/traces':
        return unless((record) => this.#isTraceHidden(record));
      case '/actions':
        return unless((record) => {
          const id = encodeURIComponent(textIn(record, /"trace_id":"([^"]+)"/));
          return this.#isTraceHidden(listIn(textOf(this.#ask(`/traces?trace_id=${id}`)))?.records[0] ?? '');
        });
      case '/messages':
        return (record) => this.#messageWithoutHidden(record);
      case '/jetton/transfers':
      case '/jetton/burns':
      case '/nft/transfers':
        return unless((record) => this.#isHashHidden(textIn(record, /"transaction_hash":"([^"]+)"/)));
      default:
        return undefined;
    }
  }

  #isTransactionHidden(record: string): boolean {
    const seqno = numberIn(record, /"mc_block_seqno":(\d+)/);
    if (this.#areRowsAbsent(seqno)) return true;
    const block = blockOf(record);
    if (block.startsWith('"workchain":-1') || !this.#isLate(seqno, 'lateShards')) return false;
    const first = transactionsIn(this.#ask, seqno).map(blockOf);
    return first.find((each) => !each.startsWith('"workchain":-1')) === block;
  }

  #isHashHidden(hash: string): boolean {
    const [record] = listIn(textOf(this.#ask(`/transactions?hash=${encodeURIComponent(hash)}`)))?.records ?? [];
    return record !== undefined && this.#isTransactionHidden(record);
  }

  /** A trace is there with its last block, even if an earlier one is not. */
  #isTraceHidden(record: string): boolean {
    const end = numberIn(record, /"mc_seqno_end":"(\d+)"/);
    if (this.#isAbsent(end)) return true;
    const { records = [] } = listIn(record, '"transactions":{') ?? {};
    return records.some(
      (each) => each.includes(`"mc_block_seqno":${end},`) && this.#isTransactionHidden(each.slice(each.indexOf('{'))),
    );
  }

  /** Without the sides that are missing; nothing if both are. */
  #messageWithoutHidden(record: string): readonly string[] {
    let shown = record;
    for (const side of record.matchAll(/,"(?:in|out)_msg_tx_hash":"([^"]+)"/g)) {
      if (this.#isHashHidden(side[1] ?? '')) shown = shown.replace(side[0], '');
    }
    return /"(in|out)_msg_tx_hash"/.test(shown) ? [shown] : [];
  }
}

function textIn(record: string, pattern: RegExp): string {
  return pattern.exec(record)?.[1] ?? '';
}

function numberIn(record: string, pattern: RegExp): number {
  return Number(textIn(record, pattern));
}

function blockOf(transaction: string): string {
  return textIn(transaction, /"block_ref":\{([^}]*)\}/);
}
