const MIN_SLOTS = 16;

/** A set of texts by 64-bit hashes: about 16 bytes per text, and no limit of entries as in `Set`. */
export class KeySet {
  private slots = new Uint32Array(2 * MIN_SLOTS);
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(text: string): void {
    const slots = this.slots.length / 2;
    if (this.count * 4 > slots * 3) this.grow(slots * 2);
    let high = 0xdeadbeef;
    let low = 0x41c6ce57;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      high = Math.imul(high ^ unit, 2654435761);
      low = Math.imul(low ^ unit, 1597334677);
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    // Zero marks an empty slot.
    if (this.place(high >>> 0, low >>> 0 || 1)) this.count++;
  }

  /** @returns false if it is there already */
  private place(high: number, low: number): boolean {
    const { slots } = this;
    const last = slots.length / 2 - 1;
    for (let slot = high & last; ; slot = (slot + 1) & last) {
      if (slots[2 * slot + 1] === 0) {
        slots[2 * slot] = high;
        slots[2 * slot + 1] = low;
        return true;
      }
      if (slots[2 * slot] === high && slots[2 * slot + 1] === low) return false;
    }
  }

  private grow(slots: number): void {
    const { slots: old } = this;
    this.slots = new Uint32Array(2 * slots);
    for (let at = 0; at < old.length; at += 2) {
      if (old[at + 1] !== 0) this.place(old[at] as number, old[at + 1] as number);
    }
  }
}
