import type { Account } from '../chain/accounts.ts';
import { EXTREME_EPOCH, ltOf, seqnoOf, utimeOf } from '../chain/clock.ts';
import { must } from '../chain/mix.ts';
import type { Template } from '../chain/model.ts';
import type { BlockName } from '../chain/shards.ts';
import { HASH_KIND, type HashKind, type TagCodec } from '../chain/tag.ts';
import { PageWriter } from './writer.ts';

/** What is written after a constant stretch of bytes. */
const SLOT = { none: 0, hash: 1, lt: 2, utime: 3, seqno: 4, grown: 5, address: 6, extreme: 7 } as const;

interface Piece {
  readonly before: Uint8Array;
  readonly slot: number;
  readonly first: number;
  readonly second: number;
  /** Epochs to go back. */
  readonly back: number;
}

/** The period and phase that turn an epoch into slots. */
export type Beat = Pick<Template, 'family' | 'period' | 'phase'>;

/** JSON text with gaps that depend only on the epoch: built once for each record of a template, filled per answer. */
export class Form {
  readonly #beat: Beat;
  readonly #codec: TagCodec;
  #pieces: Piece[] = [];
  readonly #extremes: (readonly [ordinary: Uint8Array, extreme: Uint8Array])[] = [];
  #text = '';

  constructor(beat: Beat, codec: TagCodec) {
    this.#beat = beat;
    this.#codec = codec;
  }

  text(text: string): this {
    this.#text += text;
    return this;
  }

  #gap(slot: number, first: number, second: number, back: number): void {
    this.#pieces.push({ before: Buffer.from(this.#text), slot, first, second, back });
    this.#text = '';
  }

  hash(kind: HashKind, id: number, back = 0): this {
    this.#gap(SLOT.hash, kind, id, back);
    return this.text(this.#codec.tail(this.#beat.family, kind, id));
  }

  /** A logical time, given less the first one of the epoch. */
  lt(offset: number, back = 0): this {
    this.#gap(SLOT.lt, offset, 0, back);
    return this;
  }

  utime(slot: number, back = 0): this {
    this.#gap(SLOT.utime, slot, 0, back);
    return this;
  }

  /** The masterchain seqno of a slot; never below 0. */
  seqno(slot: number, back = 0): this {
    this.#gap(SLOT.seqno, slot, 0, back);
    return this;
  }

  /** A number that is another from `EXTREME_EPOCH` on. */
  extreme(value: number | string, extreme: string | undefined, back = 0): this {
    if (extreme === undefined) return this.text(String(value));
    this.#gap(SLOT.extreme, this.#extremes.length, 0, back);
    this.#extremes.push([Buffer.from(String(value)), Buffer.from(extreme)]);
    return this;
  }

  /** A number that grows by `step` each epoch. */
  grown(value: number, step: number, back = 0): this {
    if (step === 0) return this.text(String(value));
    this.#gap(SLOT.grown, value, step, back);
    return this;
  }

  address(account: Account, back = 0): this {
    if (account.address !== undefined) return this.text(account.address);
    this.text(`${account.workchain}:${account.idHead}`);
    this.#gap(SLOT.address, account.index, 0, back);
    return this.text(account.idTail);
  }

  /** `{"workchain":..,"shard":..,"seqno":..}`; the name's step is per ordinary epoch, the beat may be slower. */
  block(name: BlockName, ordinaryPeriod: number): this {
    const ratio = this.#beat.period / ordinaryPeriod;
    const skipped = Math.floor(this.#beat.phase / ordinaryPeriod);
    this.text(`{"workchain":${name.workchain},"shard":"${name.shard}","seqno":`);
    return this.grown(name.seqno + skipped * name.step, name.step * ratio).text('}');
  }

  /** Ends the construction. */
  seal(): this {
    this.#gap(SLOT.none, 0, 0, 0);
    return this;
  }

  write(to: PageWriter, epoch: number): void {
    const { family, period, phase } = this.#beat;
    for (const piece of this.#pieces) {
      to.raw(piece.before);
      const at = epoch - piece.back;
      switch (piece.slot) {
        case SLOT.hash:
          to.tag(family, piece.first, piece.second, at);
          break;
        case SLOT.lt:
          to.uint(ltOf(phase + period * at) + piece.first);
          break;
        case SLOT.utime:
          to.uint(utimeOf(phase + period * at + piece.first));
          break;
        case SLOT.seqno:
          to.uint(Math.max(0, seqnoOf(phase + period * at + piece.first)));
          break;
        case SLOT.grown:
          to.uint(Math.max(0, piece.first + piece.second * at));
          break;
        case SLOT.address:
          to.hexTag(family, HASH_KIND.account, piece.first, at);
          break;
        case SLOT.extreme: {
          const [ordinary, extreme] = must(this.#extremes[piece.first], 'extreme');
          to.raw(at >= EXTREME_EPOCH ? extreme : ordinary);
          break;
        }
        default:
          break;
      }
    }
  }

  /** The text for one epoch. */
  textAt(epoch: number): string {
    const page = new PageWriter(this.#codec, 4096);
    this.write(page, epoch);
    return page.finish().toString('utf8');
  }
}
