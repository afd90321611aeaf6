import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type RunEvent, type RunOptions, type RunReport, run } from '../../src/export/run.ts';
import { openSession } from '../../src/http/session.ts';
import { tonlake } from '../cli.ts';
import { type Passing, startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { followUntil, HEAD, reaches, startGrowing } from '../follow/support.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { entriesOf } from '../verify/support.ts';

const RANGE = { from: 1000, to: 1039 };

let source: TestSandbox;
let witness: TestSandbox;
beforeAll(async () => {
  [source, witness] = await Promise.all([startTestSandbox(), startTestSandbox()]);
});
afterEach(() => {
  source.answer = undefined;
  witness.answer = undefined;
});

interface Ran {
  readonly warehouse: string;
  readonly report: RunReport;
  /** What the run said of the witness. */
  readonly told: readonly string[];
}

async function runWith(options: Partial<RunOptions> = {}): Promise<Ran> {
  const told: string[] = [];
  const warehouse = options.warehouse ?? join(freshFolder(), 'w');
  const onEvent = (event: RunEvent) => {
    if (event.event === 'witness') told.push(`${event.pipeline} ${event.seqno} ${event.answered}`);
  };
  const report = await run({
    ...{ pipelines: ['transactions'], network: source.url, range: `${RANGE.from}:${RANGE.to}`, witness: witness.url },
    ...{ warehouse, effects: hurriedEffects(), onEvent, ...options },
  });
  return { warehouse, report, told };
}

/** Another root hash for masterchain blocks, in lists of whatever form. */
async function otherHashes(passing: Passing) {
  const { status, body } = await passing.forward();
  if (!/"blocks":/.test(body)) return { status, body };
  const answer = JSON.parse(body) as { blocks: { workchain: number; root_hash: string }[] };
  for (const block of answer.blocks) if (block.workchain === -1) block.root_hash = `AAAA${block.root_hash.slice(4)}`;
  return { status, body: JSON.stringify(answer) };
}

const DIFFERENCE =
  /^walk blocks (\d+): expected block \1 with hash \S{44} at the witness, got \S{44}; the commit was not made$/;

describe('a witness of commits', () => {
  const place = () => join(freshFolder(), 'w');

  test('is asked once for each commit, for a block of it', async () => {
    witness.requests.reset();
    const { report, told } = await runWith({ warehouse: place() });
    expect(report).toMatchObject({ complete: true, witness: { agreed: 2, unanswered: 0 } });
    expect(told.map((text) => text.replace(/ \d+ /, ' '))).toEqual(['blocks true', 'transactions true']);
    for (const seqno of told.map((text) => Number(text.split(' ')[1]))) {
      expect([seqno, seqno >= RANGE.from && seqno <= RANGE.to]).toEqual([seqno, true]);
    }
    expect(witness.requests.stats().requests).toBe(2);
  });

  test('that has another block ends the run before the commit, with both hashes', async () => {
    source.answer = otherHashes;
    const warehouse = place();
    await expect(runWith({ warehouse })).rejects.toMatchObject({
      ...{ code: 'other-witness', retryable: false, message: expect.stringMatching(DIFFERENCE) },
    });
    expect(await entriesOf(warehouse)).toHaveLength(0);
  });

  test('is asked about blocks whose headers were committed without it', async () => {
    const warehouse = place();
    source.answer = otherHashes;
    await runWith({ warehouse, pipelines: ['blocks'], witness: undefined });
    await expect(runWith({ warehouse })).rejects.toMatchObject({ code: 'other-witness' });
    expect(await entriesOf(warehouse)).toHaveLength(1);
  });
});

describe('a witness', () => {
  test('gets no API key', async () => {
    const keys: unknown[] = [];
    for (const sandbox of [source, witness]) {
      sandbox.answer = (passing) => {
        keys.push(passing.headers['x-api-key']);
        return passing.forward();
      };
    }
    const { report } = await runWith({ env: { ...process.env, TONLAKE_API_KEY: 'key' } });
    expect(report.witness).toEqual({ agreed: 2, unanswered: 0 });
    expect(keys.filter((key) => key === undefined)).toEqual([undefined, undefined]);
    expect(keys).toContain('key');
  });

  test('that always fails holds up nothing, and is counted', async () => {
    witness.answer = () => ({ status: 500, body: 'no' });
    const { report, told } = await runWith();
    expect(report).toMatchObject({ complete: true, witness: { agreed: 0, unanswered: 2 } });
    expect(told.map((text) => text.split(' ')[2])).toEqual(['false', 'false']);
  });

  test('that is not there is said in the output, with exit code 0', async () => {
    const gone = await startTestSandbox();
    await gone.close();
    const { code, stdout, stderr } = await tonlake(
      [
        ...['run', 'transactions', '--network', source.url, '--range', '1000:1009', '--witness', gone.url],
        ...['--warehouse', join(freshFolder(), 'w')],
      ],
      {},
    );
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^witness: no answer for block 10\d\d: source block /m)]);
    expect(stdout).toContain('0 commits agree with the witness; no answer for 2 more');
  });

  test('that is behind is asked for the oldest block of the commit', async () => {
    witness.answer = async (passing) => {
      const isKnown = Number(passing.query.get('seqno')) <= RANGE.from;
      return isKnown ? passing.forward() : { status: 200, body: '{"blocks":[]}' };
    };
    const { report, told } = await runWith({ effects: { ...hurriedEffects(), random: () => 0.9 } });
    expect(report.witness).toEqual({ agreed: 2, unanswered: 0 });
    expect(told).toEqual([`blocks ${RANGE.from} true`, `transactions ${RANGE.from} true`]);
    witness.answer = () => ({ status: 200, body: '{"blocks":[]}' });
    expect((await runWith()).report).toMatchObject({ complete: true, witness: { agreed: 0, unanswered: 2 } });
  });

  test('of a follower ends it, too', async () => {
    const { effects, sandbox } = await startGrowing(1_000);
    const place = () => join(freshFolder(), 'w');
    const options = { pipelines: ['transactions'], network: sandbox.url, effects, lagMs: 10_000, witness: witness.url };
    const { report } = await followUntil(reaches(HEAD + 5), { ...options, warehouse: place() });
    expect(report.witness).toEqual({ agreed: expect.any(Number), unanswered: 0 });
    expect(report.witness?.agreed).toBeGreaterThan(1);
    sandbox.answer = otherHashes;
    const lied = followUntil(() => false, { ...options, warehouse: place() });
    await expect(lied).rejects.toMatchObject({ code: 'other-witness', message: expect.stringMatching(DIFFERENCE) });
  });

  test.each([
    ['the source', () => source.url],
    ['the source with a slash', () => `${source.url}/`],
    ['the source by another scheme', () => source.url.replace('http:', 'https:')],
    ['a network without an address', () => 'sandbox'],
  ])('cannot be %s', async (_, urlOf) => {
    await expect(openSession({ network: source.url, witness: urlOf(), effects: hurriedEffects() })).rejects.toThrow(
      /^usage: expected a witness other than the source, got /,
    );
  });
});
