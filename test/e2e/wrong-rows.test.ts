import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import { type Passing, type Replied, startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { chanceOf, ROW_LIES, type RowLie } from '../row-lies.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';
import { type Hashes, hashTables } from './export.ts';

const RANGE = '1000:1005';
/** Runs of mixed lies: TONLAKE_LIE_SEEDS=200 for all. */
const SEEDS = Number(process.env['TONLAKE_LIE_SEEDS'] ?? 1);
const SHARE = 0.09;

const registry = await loadRegistry();
const pipelines = registry.lasting.map((name) => registry.pipeline(name));
const byPath = new Map(pipelines.map((pipeline) => [pipeline.endpoint.replace(/^\w+ /, ''), pipeline]));

let sandbox: TestSandbox;
let truth: Hashes;
/** Honest answers to the requests of a path. The head stands still, so that they are the same each time. */
const answers = new Map<string, Map<string, Replied>>();
const nameOf = ({ path, query, body }: Passing): string => `${path} ${query} ${body}`;

beforeAll(async () => {
  sandbox = await startTestSandbox({ blocks: 3300, blockMs: 1000, nowMs: () => 0 });
  sandbox.answer = honestly;
  const warehouse = join(freshFolder(), 'w');
  expect((await readAll(warehouse)).report).toMatchObject({ complete: true });
  truth = await hashTables(warehouse);
});

async function honestly(passing: Passing): Promise<Replied> {
  const known = answers.get(passing.path) ?? new Map<string, Replied>();
  answers.set(passing.path, known);
  const replied = known.get(nameOf(passing)) ?? (await passing.forward());
  known.set(nameOf(passing), replied);
  return replied;
}

interface Outcome {
  readonly report: { readonly complete: boolean } | undefined;
  /** What the run said of missing or unknown rows. */
  readonly problems: readonly RunEvent[];
  readonly error: unknown;
}

async function readAll(warehouse: string): Promise<Outcome> {
  const problems: RunEvent[] = [];
  const told = new Set(['problem', 'quarantine', 'unknown-keys', 'refused-keys', 'fewer-rows']);
  try {
    const report = await run({
      ...{ pipelines: registry.lasting, network: sandbox.url, range: RANGE, warehouse, registry },
      ...{ effects: hurriedEffects(), waitMs: 1000, onEvent: (event) => told.has(event.event) && problems.push(event) },
    });
    return { report, problems, error: undefined };
  } catch (error) {
    return { report: undefined, problems, error };
  }
}

/** Answers as the lie does, where `isTold` says so. */
function lying(lieOf: (request: string, attempt: number) => RowLie | undefined): Map<string, number> {
  const told = new Map<string, number>();
  const attempts = new Map<string, number>();
  sandbox.answer = async (passing) => {
    const request = nameOf(passing);
    const attempt = (attempts.get(request) ?? 0) + 1;
    attempts.set(request, attempt);
    const honest = await honestly(passing);
    const pipeline = byPath.get(passing.path);
    const lie = pipeline === undefined ? undefined : lieOf(request, attempt);
    if (pipeline === undefined || lie === undefined) return honest;
    const known = [...(answers.get(passing.path) ?? [])].filter(([other]) => other !== request);
    const chance = chanceOf(`${request} ${attempt}`);
    const from = Math.floor(chance * known.length);
    const others = [...known.slice(from), ...known.slice(0, from)].map(([, replied]) => replied);
    const wrong = await lie.tell({ pipeline, passing, honest, others, chance });
    if (wrong === undefined) return honest;
    told.set(pipeline.name, (told.get(pipeline.name) ?? 0) + 1);
    return wrong;
  };
  return told;
}

/** Tables with other rows than the truth, of which the run said nothing. */
async function silently(warehouse: string, { report, problems, error }: Outcome): Promise<readonly string[]> {
  if (error !== undefined) return [];
  const got = await hashTables(warehouse);
  const told = new Set(problems.map((event) => ('pipeline' in event ? event.pipeline : '')));
  const tables = pipelines
    // A pipeline that takes its keys from another, or is compared with it, lacks what that one lacks.
    .filter(({ name, provenBy }) => !registry.toRun([name, ...provenBy]).some((each) => told.has(each.name)))
    .flatMap(({ tables }) => tables.map(({ name }) => name));
  if (tables.length === pipelines.flatMap((pipeline) => pipeline.tables).length) expect(report?.complete).toBe(true);
  return tables.filter((name) => got[name] !== truth[name]);
}

describe.each(ROW_LIES)('a source that $name', (lie) => {
  test('in the first answer to each request gets no wrong row in, and nothing is missing in silence', async () => {
    const told = lying((_, attempt) => (attempt === 1 ? lie : undefined));
    const warehouse = join(freshFolder(), 'w');
    const outcome = await readAll(warehouse);
    expect(await silently(warehouse, outcome), JSON.stringify([...told])).toEqual([]);
    expect(told.size).toBeGreaterThan(0);
  });
});

describe('a source that lies in every tenth answer or so', () => {
  test.each(Array.from({ length: SEEDS }, (_, at) => at + 1))(
    'seed %i: every row is there, or the run says what is not',
    async (seed) => {
      const told = lying((request, attempt) => {
        if (chanceOf(`${seed} ${request} ${attempt}`) >= SHARE) return undefined;
        return ROW_LIES[Math.floor(chanceOf(`lie ${seed} ${request} ${attempt}`) * ROW_LIES.length)];
      });
      const warehouse = join(freshFolder(), 'w');
      const outcome = await readAll(warehouse);
      expect(await silently(warehouse, outcome), JSON.stringify([...told])).toEqual([]);
      expect((await verify(warehouse)).findings).toEqual([]);
    },
  );
});
