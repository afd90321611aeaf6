import { join } from 'node:path';
import fc from 'fast-check';
import { type Effects, realEffects } from '../../../src/core/effects.ts';
import { forgetRange } from '../../../src/verify/forget.ts';
import { repairWarehouse } from '../../../src/verify/repair.ts';
import { forgetOld } from '../../../src/verify/retention.ts';
import { compactWarehouse } from '../../../src/warehouse/compaction/compact.ts';
import { tonlake } from '../../cli.ts';
import { EXTENSIONS } from '../../objects/s3-server.ts';
import { anyDamage, breakFile } from '../../verify/damages.ts';
import { withoutSource } from './export-steps.ts';
import type { History } from './history.ts';
import { LISTS, LOOKUPS, MARTS, OF_BLOCKS, registry } from './warehouse-rows.ts';

/** In one go, or cut short at a step of the commit and done again. */
export async function forget(history: History): Promise<void> {
  const { rng, path: warehouse } = history;
  const span = history.span();
  const chosen = rng.pick([OF_BLOCKS, OF_BLOCKS, LISTS, [rng.pick(LISTS)]]);
  const held = new Set((await history.status()).keys());
  const names = chosen.filter((name) => held.has(name));
  if (names.length === 0) return;
  const range = `${span.from}:${span.to}`;
  if (rng.chance(0.4)) {
    const end = endingAfter(rng.below(12));
    const onStep = async (step: string) => end(step);
    const ended = await outcomeOf(forgetRange({ warehouse, pipelines: names, range, onStep }));
    history.note(`forget ${names} ${range}: ${ended}`);
  }
  const { code, said } = await history.command('forget', ...names, '--range', range, '--yes');
  // Lists without blocks can only be forgotten by whole entries.
  history.require(code === 0 || said.includes('got a part of it'), 'blocks are not forgotten');
  if (code !== 0) return;
  for (const name of names) history.uncover(name, span);
}

/** Keeps a day, and that of the newest block. */
export async function retain(history: History): Promise<void> {
  const held = new Set((await history.status()).keys());
  const pipelines = [...OF_BLOCKS, ...LOOKUPS].filter((name) => held.has(name));
  if (pipelines.length === 0) return;
  const { spans } = await forgetOld({
    ...{ warehouse: history.path, pipelines, keepDays: 1, now: Date.UTC(2099, 0, 1) },
  });
  history.note(`retention: ${JSON.stringify(spans)}`);
  for (const [name, gone] of Object.entries(spans)) for (const span of gone) history.uncover(name, span);
}

/** To its end, or cut short at a step of a commit. */
export async function compact(history: History): Promise<void> {
  const end = endingAfter(history.rng.below(24));
  const onStep = async (step: string) => end(step);
  const what = { tables: registry.tables, pipelines: registry.toRun(registry.lasting), effects: realEffects };
  history.note(`compact: ${await outcomeOf(compactWarehouse({ warehouse: history.path, onStep, ...what }))}`);
}

export async function verify(history: History): Promise<void> {
  const { code, said } = await history.command('verify', '--deep');
  history.require(code === 0, said);
}

export async function build(history: History): Promise<void> {
  await history.command('build', history.rng.pick(MARTS));
}

/** Damages files, and repairs: in one go, or after repairs that end early, or whose source fails. */
export async function damage(history: History): Promise<void> {
  const { rng, path: warehouse } = history;
  const [damages = []] = fc.sample(anyDamage(warehouse), { seed: rng.next(), numRuns: 1 });
  for (const each of damages) {
    breakFile(warehouse, each);
    history.note(`${each.file} is ${each.how} at ${each.place}, ${each.bit}`);
  }
  for (let turns = rng.below(3); turns > 0; turns--) {
    const stop = new AbortController();
    const end = endingAfter(rng.below(6));
    const freshId = () => {
      end('its next identifier');
      return realEffects.freshId();
    };
    const effects: Effects = { ...realEffects, freshId };
    const options = { warehouse, deep: true, waitMs: 200, signal: stop.signal };
    if (rng.chance(0.5)) history.note(`repair: ${await outcomeOf(repairWarehouse({ ...options, effects }))}`);
    else {
      const [most, isStopped] = [rng.below(6), rng.chance(0.5)];
      const work = async (): Promise<void> => {
        history.note(`repair without source: ${await outcomeOf(repairWarehouse(options))}`);
      };
      // With 404, a source says of a key that nothing has it.
      await withoutSource(history, most, isStopped ? stop : undefined, work, 503);
    }
  }
  const { code, said } = await history.command('verify', '--repair', '--deep');
  history.require(code === 0, said);
  await verify(history);
}

/** As if a process ended: throws at one of many steps. */
function endingAfter(most: number): (step: string) => void {
  let left = most;
  return (step) => {
    if (left-- === 0) throw new Error(`cut short before ${step}`);
  };
}

function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    ({ message }: Error) => message,
  );
}

/** Goes on with a copy, in a folder. */
export async function copy(history: History): Promise<void> {
  const to = join(history.folder, `copy${history.rng.next()}`);
  const { code, stderr } = await tonlake(['copy', history.path, to], {
    env: { TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' },
  });
  history.note(`copy: ${code}`);
  history.require(code === 0, stderr);
  history.path = to;
  history.place = 'folder';
}

/** Blocks of another warehouse; commits of which some blocks are there are not added. */
export async function add(history: History): Promise<void> {
  const other = join(history.folder, `other${history.rng.next()}`);
  const [pipelines, span] = [history.some(OF_BLOCKS), history.span()];
  await history.run(pipelines, span, {}, other);
  const { code, stdout, stderr } = await tonlake(['copy', '--add', other, history.path]);
  history.note(`copy --add: ${code} ${stdout}`);
  history.require(code === 0, stderr);
  for (const { name } of registry.toRun(pipelines)) if (!history.hasAny(name, span)) history.cover([name], span);
}

export async function publish(history: History): Promise<void> {
  const { code, said } = await history.command('publish', 'iceberg');
  history.require(code === 0, said);
}
