import { type Account, addressOf } from '../chain/accounts.ts';
import { type Clock, EPOCH_BLOCKS, EXTREME_EPOCH, ltOf, seqnoOf } from '../chain/clock.ts';
import type { Template } from '../chain/model.ts';
import type { BlockName } from '../chain/shards.ts';
import type { HashKind, TagCodec } from '../chain/tag.ts';
import { PageWriter } from './writer.ts';

/** Text that depends on the epoch. */
type Gap = (to: PageWriter, epoch: number) => void;

/** Text with gaps. */
export type GappedText = readonly (string | Gap)[];

const cleaned = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Tag of a template with JSON text; line breaks with the indentation after them are not part of the text. */
export function json(
  strings: TemplateStringsArray,
  ...values: readonly (string | number | boolean | GappedText)[]
): GappedText {
  const texts = cleaned.get(strings) ?? strings.map((text) => text.replace(/\n\s*/g, ''));
  cleaned.set(strings, texts);
  const parts: (string | Gap)[] = [];
  texts.forEach((text, index) => {
    const value = values[index] ?? '';
    parts.push(text);
    if (typeof value === 'object') parts.push(...value);
    else parts.push(String(value));
  });
  return parts;
}

/** Makes the gaps in the records of a template. `back` is how many epochs before the record the value is from. */
export class Gaps {
  readonly #template: Template;
  readonly #codec: TagCodec;
  readonly #clock: Clock;

  constructor(template: Template, codec: TagCodec, clock: Clock) {
    this.#template = template;
    this.#codec = codec;
    this.#clock = clock;
  }

  #slotAt(epoch: number): number {
    return this.#template.phase + this.#template.period * epoch;
  }

  hash(kind: HashKind, id: number, back = 0): GappedText {
    const { family } = this.#template;
    const codec = this.#codec;
    return [(to, epoch) => to.tag(codec, family, kind, id, epoch - back), codec.tail(family, kind, id)];
  }

  /** A logical time, given relative to the first one of the epoch. */
  lt(offset: number, back = 0): GappedText {
    return [(to, epoch) => to.uint(ltOf(this.#slotAt(epoch - back)) + offset)];
  }

  utime(slot: number, back = 0): GappedText {
    return [(to, epoch) => to.uint(this.#clock.utimeOf(this.#slotAt(epoch - back) + slot))];
  }

  /** The masterchain seqno of a slot, at least 0. */
  seqno(slot: number): GappedText {
    return [(to, epoch) => to.uint(Math.max(0, seqnoOf(this.#slotAt(epoch) + slot)))];
  }

  /** A number that is replaced from `EXTREME_EPOCH` on. */
  extreme(value: number | string, extreme: string | undefined, back = 0): GappedText {
    if (extreme === undefined) return [String(value)];
    return [(to, epoch) => to.text(epoch - back >= EXTREME_EPOCH ? extreme : String(value))];
  }

  /** A number that grows by `step` each epoch. */
  grown(value: number, step: number, back = 0): GappedText {
    if (step === 0) return [String(value)];
    return [(to, epoch) => to.uint(Math.max(0, value + step * (epoch - back)))];
  }

  address(account: Account, back = 0): GappedText {
    if (account.address !== undefined) return [account.address];
    return [(to, epoch) => to.text(addressOf(account, epoch - back, this.#codec))];
  }

  /** `{"workchain":..,"shard":..,"seqno":..}`; the step of the name is per ordinary epoch. */
  block({ workchain, shard, seqno, step }: BlockName): GappedText {
    const { period, phase } = this.#template;
    const first = seqno + Math.floor(phase / EPOCH_BLOCKS) * step;
    return json`{"workchain":${workchain},"shard":"${shard}","seqno":${this.grown(first, (step * period) / EPOCH_BLOCKS)}}`;
  }
}

/** A record of a template: built once, then written for any epoch. */
export class Form {
  readonly #pieces: (readonly [before: Uint8Array, gap: Gap | undefined])[] = [];

  constructor(text: GappedText) {
    let before = '';
    for (const part of [...text, undefined]) {
      if (typeof part === 'string') before += part;
      else {
        this.#pieces.push([Buffer.from(before), part]);
        before = '';
      }
    }
  }

  write(to: PageWriter, epoch: number): void {
    for (const [before, gap] of this.#pieces) {
      to.raw(before);
      gap?.(to, epoch);
    }
  }

  /** The text for one epoch. */
  textAt(epoch: number): string {
    const page = new PageWriter(4096);
    this.write(page, epoch);
    return page.finish().toString('utf8');
  }
}
