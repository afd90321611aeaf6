import { consume, publish, read, settle, write } from './actors.ts';
import { takeCalls, useMachine } from './node-calls.ts';
import { ROOT, SimulatedWarehouse } from './warehouse.ts';
import { NONE, type Troubles, World } from './world.ts';

export interface Outcome {
  readonly seed: number;
  readonly calls: number;
  /** Entries of the ledger at the end. */
  readonly entries: number;
  /** Hash of the history: the same for the same seed and number of calls. */
  readonly trace: string;
  /** What broke; undefined if nothing did. */
  readonly broken: string | undefined;
}

export interface SimulationOptions {
  /** Calls after which all processes die, and the last ones look at what is left. */
  readonly calls: number;
  /** Troubles that do not happen. Default: none. */
  readonly without?: readonly (keyof Troubles)[];
  /** Processes at the same time. Default 4 in a folder, 6 in a bucket. */
  readonly most?: number;
  /** Gets a line for each call. Default: none. */
  readonly tell?: ((line: string) => void) | undefined;
}

const DAY_MS = 86_400_000;
const MOST = { folder: 4, bucket: 6 };

/**
 * Lets a seed choose what happens to a warehouse, in a folder for even seeds, in a bucket for odd ones, and compares what is there with the
 * truth all the while.
 */
export async function simulate(seed: number, options: SimulationOptions): Promise<Outcome> {
  const world = new World(seed, options.tell);
  const isBucket = seed % 2 === 1;
  const place = new SimulatedWarehouse(world, isBucket);
  process.env['TMPDIR'] = `${ROOT}/tmp`;
  useMachine({ world, disk: place.disk });
  try {
    await live(place, options);
    if (world.broken === undefined) await end(place);
  } catch (error) {
    world.break(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    for (const process of [...world.processes]) world.kill(process);
    useMachine(undefined);
  }
  const { trace, broken } = world;
  return { seed, calls: world.calls, entries: count(place), trace, broken: broken?.message };
}

function count(place: SimulatedWarehouse): number {
  try {
    return place.truth.last;
  } catch {
    return 0;
  }
}

/** The troubles of a seed: some have none of a kind. */
function troublesOf({ random }: World): Troubles {
  const some = (share: number): number => (random.happens(0.4) ? 0 : share * random.next());
  return { fails: some(0.01), loses: some(0.01), kills: some(0.02), powerLosses: some(0.01), sleeps: some(0.015) };
}

async function live(place: SimulatedWarehouse, { calls, without = [], most }: SimulationOptions): Promise<void> {
  const { world, truth, isBucket } = place;
  const published = new Map<string, readonly string[]>();
  world.troubles = { ...troublesOf(world), ...Object.fromEntries(without.map((name) => [name, 0])) };
  world.onPowerLoss = () => {
    place.disk.losePower(world.random);
    truth.lookAgain();
  };
  const actors = [
    ...Array.from({ length: 4 }, () => ({ name: 'writer', main: () => write(place) })),
    ...[{ name: 'reader', main: () => read(place) }, { name: 'reader', main: () => read(place) }],
    { name: 'consumer', main: () => consume(place) },
    { name: 'publisher', main: () => publish(place, published) },
  ];
  await world.run(calls, () => {
    requirePublished(place, published);
    if (world.processes.length >= (most ?? (isBucket ? MOST.bucket : MOST.folder))) return;
    const actor = world.random.pick(actors);
    // Machines that share a bucket do not share a clock.
    const skewMs = isBucket ? world.random.within(-DAY_MS / 4, DAY_MS / 4) / (world.random.happens(0.5) ? 1 : 1000) : 0;
    if (actor !== undefined) world.start(actor.name, actor.main, skewMs);
  });
}

/** Files of published states stay. */
function requirePublished(place: SimulatedWarehouse, published: ReadonlyMap<string, readonly string[]>): void {
  // Every call would be too often.
  if (place.world.calls % 16 !== 0) return;
  for (const [state, files] of published) {
    const lost = files.find((path) => place.file(path) === undefined);
    if (lost !== undefined) throw new Error(`${lost} is gone, and published as entry ${state}`);
  }
}

/** Lets all end without further troubles. Then what was committed is there, and nothing else. */
async function end(place: SimulatedWarehouse): Promise<void> {
  const { world, truth } = place;
  world.troubles = NONE;
  for (const process of [...world.processes]) world.kill(process);
  truth.lookAgain();
  world.now += 2 * DAY_MS;
  world.start('last writer', () => settle(place));
  await world.run(Number.POSITIVE_INFINITY);
  if (world.broken !== undefined) return;
  let files: readonly string[] = [];
  world.start('last reader', async () => {
    const ledger = place.backend().ledger();
    await ledger.refresh();
    if (ledger.entries.lastNumber !== truth.last) throw new Error('the last reader does not see the last entry');
    files = truth.check(ledger);
    const marked = (await place.backend().objects.list('iceberg/_entries/')).length > 0;
    const left = [...place.dataFiles()].filter((path) => !files.includes(path));
    if (!marked && left.length > 0) throw new Error(`${left[0]} is left, and no entry in force names it`);
    const hidden = files.find((path) => !place.shown().has(path));
    if (hidden !== undefined) throw new Error(`${hidden} is in force, and not in its folder`);
  });
  await world.run(Number.POSITIVE_INFINITY);
}

/** The settings under which a seed breaks after the fewest calls: with fewer kinds of trouble, and fewer processes. */
export async function shrink(seed: number, calls: number): Promise<readonly [SimulationOptions, Outcome] | undefined> {
  let best: readonly [SimulationOptions, Outcome] | undefined;
  const kinds = Object.keys(NONE) as (keyof Troubles)[];
  const sets = Array.from({ length: 2 ** kinds.length }, (_, set) => kinds.filter((_kind, at) => (set >> at) % 2 === 1));
  for (const without of sets) {
    for (const most of [2, 3, 4, 5, 6]) {
      const options = { calls: best === undefined ? calls : best[1].calls - 1, without, most };
      const outcome = await simulate(seed, options);
      if (outcome.broken !== undefined && outcome.calls < (best?.[1].calls ?? Number.POSITIVE_INFINITY))
        best = [options, outcome];
    }
  }
  return best;
}

/** Once, before the first simulation. */
export function prepare(): void {
  takeCalls();
}
