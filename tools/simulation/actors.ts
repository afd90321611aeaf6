import { isCommittedMeanwhile, StoreError } from '../../src/core/errors.ts';
import { PublishedEntries } from '../../src/warehouse/garbage/published-entries.ts';
import { GRACE_MS, type SimulatedWarehouse, type SimulatedWriter } from './warehouse.ts';
import type { World } from './world.ts';

/** Time to mark a state as published after it was read, as in `publish iceberg`. */
const MARK_WITHIN_MS = 20 * 60_000;

/** Writes for a while: commits, replacements, merges and removals. */
export async function write(place: SimulatedWarehouse): Promise<void> {
  await expectingFaults(place, async () => {
    const { random, effects } = place.world;
    const writer = await place.open();
    const works: readonly (() => Promise<unknown>)[] = [
      ...Array.from({ length: 5 }, () => () => writer.add()),
      ...[() => writer.replace(), () => writer.forget(), () => writer.merge(), () => writer.merge(), () => writer.clear()],
      () => effects.sleep(random.below(GRACE_MS)),
    ];
    try {
      for (let left = random.within(1, 12); left > 0; left--) await attempt(place, random.pick(works));
    } finally {
      await writer.close();
    }
  });
}

/** Does one piece of work. The writer goes on after its own fault, and when another writer was faster. */
async function attempt({ world }: SimulatedWarehouse, work: (() => Promise<unknown>) | undefined): Promise<void> {
  try {
    await work?.();
  } catch (error) {
    if (isCommittedMeanwhile(error)) return;
    if (!isOwnFault(world, error)) throw error;
    world.note(`goes on after ${error}`);
  }
}

/** Reads a state, and its files again before the grace period ends: they must be unchanged. */
export async function read(place: SimulatedWarehouse): Promise<void> {
  await expectingFaults(place, async () => {
    const { world, truth } = place;
    const ledger = place.backend().ledger();
    for (let left = world.random.within(1, 4); left > 0; left--) {
      const startedAt = world.now;
      await ledger.refresh();
      const files = truth.check(ledger).map((path) => [path, place.file(path)] as const);
      await world.sleep(world.random.below(GRACE_MS));
      if (world.now - startedAt >= GRACE_MS) continue;
      const changed = files.find(([path, before]) => before === undefined || place.file(path)?.equals(before) !== true);
      if (changed !== undefined) throw new Error(`${changed[0]} changed or went within the grace period of a reader`);
    }
  });
}

/** Reads each commit once, in order, as `consume` does. */
export async function consume(place: SimulatedWarehouse): Promise<void> {
  await expectingFaults(place, async () => {
    const { world, truth } = place;
    const ledger = place.backend().ledger();
    let cursor = world.random.happens(0.5) ? 0 : world.random.below(truth.last + 1);
    for (let left = world.random.within(1, 4); left > 0; left--) {
      await ledger.refresh();
      const to = ledger.entries.lastNumber;
      const given = (await ledger.log(cursor)).map(({ number }) => number);
      const expected = truth.complete(cursor, to);
      if (given.join() !== expected.join())
        throw new Error(`after ${cursor}, the log up to ${to} gave ${given.join()} instead of ${expected.join()}`);
      cursor = given.at(-1) ?? cursor;
      await world.sleep(world.random.below(60_000));
    }
  });
}

/** Publishes a state, whose files must stay until the publication is withdrawn. */
export async function publish(place: SimulatedWarehouse, published: Map<string, readonly string[]>): Promise<void> {
  await expectingFaults(place, async () => {
    const { world, truth } = place;
    const backend = place.backend();
    // A separate target, because publications to the same target exclude each other.
    const target = String(world.process?.pid);
    const marks = new PublishedEntries(backend.objects, target);
    const ledger = backend.ledger();
    await ledger.refresh();
    const readAt = world.effects.now();
    const { effective, lastNumber: number } = ledger.entries;
    const last = ledger.entries.all.at(-1);
    if (last?.number !== number) return;
    truth.check(ledger);
    const files = effective.flatMap(({ tables }) => Object.values(tables).flatMap((table) => table.files));
    await marks.mark({ number, id: last.id, publishedAt: readAt });
    if (world.effects.now() - readAt <= MARK_WITHIN_MS) {
      await backend.pin(files);
      published.set(`${number} in ${target}`, files.map(({ path }) => path));
      await world.sleep(world.random.below(40 * GRACE_MS));
    }
    published.delete(`${number} in ${target}`);
    await marks.unmark([number]);
  });
}

/** Throws errors of defects. Without an injected fault, a process may only lose against others. */
async function expectingFaults({ world }: SimulatedWarehouse, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = error instanceof StoreError ? error.code : undefined;
    if (code === 'busy' || code === 'too-late' || code === 'committed-meanwhile') return;
    if (!isOwnFault(world, error)) throw error;
    world.note(`ended: ${error}`);
  }
}

/** True for the error of a fault that was injected into the process whose code runs. */
function isOwnFault({ process }: World, error: unknown): boolean {
  return (process?.faults ?? 0) > 0 && isFault(error);
}

function isFault(error: unknown): boolean {
  return error instanceof Error && (/\bEIO\b/.test(error.message) || isFault(error.cause));
}

/** Collects all garbage, as the last writer. */
export async function settle(place: SimulatedWarehouse): Promise<void> {
  const writer: SimulatedWriter = await place.open();
  await writer.clear();
  await writer.close();
}
