import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { formatError, SourceError, StoreError } from '../../src/core/errors.ts';
import type { Job } from '../../src/jobs/job.ts';
import type { JobActions } from '../../src/jobs/job-actions.ts';
import { JobHistory, lockJobs } from '../../src/jobs/run-history.ts';
import { readLog } from '../../src/jobs/run-log.ts';
import type { JobRecord } from '../../src/jobs/run-record.ts';
import { describeHistory, describeRecord, describeStep } from '../../src/jobs/show-job.ts';
import { freshFolder } from '../scratch.ts';
import { type FakeActions, fakeActions } from './fakes.ts';
import { type FakedOutcome, jobOf, NIGHT, runFaked } from './support.ts';

const HEAD = 'network: mainnet\npipelines: [blocks]\n';

interface Place {
  readonly folder: string;
  job(text: string): Promise<Job>;
  run(text: string, over?: FakeActions, due?: number, stop?: AbortSignal): Promise<FakedOutcome>;
  read(file: string): string | undefined;
  write(file: string, text: string): void;
  files(): readonly string[];
  records(): Promise<readonly JobRecord[]>;
}

/** A folder of outputs and a warehouse. `OUT` in a job stands for the folder. */
function freshPlace(): Place {
  const folder = freshFolder();
  const warehouse = join(folder, 'w');
  const job = (text: string): Promise<Job> =>
    jobOf(text.replaceAll('OUT', join(folder, 'out')), 'jobs/nightly.yaml', warehouse);
  return {
    folder,
    job,
    run: async (text, over, due = NIGHT, stop) => runFaked(await job(text), over, { due, stop }),
    read: (file) => {
      try {
        return readFileSync(join(folder, 'out', file), 'utf8');
      } catch {
        return undefined;
      }
    },
    write: (file, text) => {
      const path = join(folder, 'out', file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    },
    files: () => readdirSync(join(folder, 'out')).sort(),
    records: async () => (await JobHistory.open(warehouse, 'nightly')).read(),
  };
}

const FULL = `${HEAD}range: yesterday
marts: [gas_fees_daily, block_times]
checks: [unique_keys]
reports:
  - {report: network-daily, output: 'OUT/network-{date}.html', params: {from: '{date}'}}
exports:
  - {table: blocks, output: OUT/blocks.csv}
`;

describe('a run of a job', () => {
  test('exports, builds, checks, and only then publishes', async () => {
    const place = freshPlace();
    const { record, error, asked } = await place.run(FULL);
    expect(error).toBeUndefined();
    expect(asked.steps).toEqual(['run', 'marts', 'checks', 'report network-daily', 'rows']);
    expect(asked.ranges).toEqual(['1221:1230']);
    expect(place.files()).toEqual(['blocks.csv', 'network-2026-05-03.html']);
    expect(JSON.parse(place.read('network-2026-05-03.html') ?? '')).toEqual({
      ...{ report: 'network-daily', params: { from: '2026-05-03' }, timezone: 'UTC', now: '2026-05-04T03:15:00.000Z' },
    });
    expect(record).toMatchObject({
      ...{ id: '20260504T031500Z', job: 'nightly', state: 'done', trigger: 'manual', due: '2026-05-04T03:15:00.000Z' },
      range: { blocks: '1221:1230', from: 1221, to: 1230, firstDay: '2026-05-03', lastDay: '2026-05-03' },
    });
    expect(record.steps.map(({ kind, name, status }) => `${kind} ${name} ${status}`)).toEqual([
      'range nightly done',
      'export blocks done',
      'mart gas_fees_daily done',
      'mart block_times done',
      'check unique_keys done',
      'report network-daily done',
      'rows blocks done',
      'publish 2 done',
    ]);
    expect(await place.records()).toEqual([record]);
  });

  test('writes a log as it goes: attempts, commits, problems and steps, each with its time', async () => {
    const place = freshPlace();
    let now = NIGHT;
    const effects = { ...realEffects, now: () => now++, monotonic: () => 0 };
    const job = await place.job(`${HEAD}range: yesterday`);
    const run = fakeActions().actions.run;
    const { record } = await runFaked(
      job,
      {
        run: async (options) => {
          const problem = { code: 'lost', message: 'two\nlines' };
          options.onEvent?.({ event: 'problem', pipeline: 'blocks', from: 1221, to: 1230, ...problem });
          options.onEvent?.({ event: 'span', pipeline: 'blocks', from: 1221, to: 1230, rows: { blocks: 10 } });
          return { ...(await run(options)), complete: false };
        },
      },
      { effects },
    );
    const { folder } = await JobHistory.open(job.warehouse, job.name);
    const lines = await readLog(folder, record);
    expect(lines.map((line) => line.replace(/^2026-05-04T03:15:00\.\d{3}Z /, ''))).toEqual([
      'attempt 1 of the run of 2026-05-04T03:15:00.000Z begins',
      expect.stringMatching(/^range nightly: done/),
      'problem: two lines',
      'blocks: committed 1221:1230 (10 blocks)',
      expect.stringMatching(/^export blocks: failed, .* \(0 s\)$/),
      expect.stringMatching(/^failed: job nightly: /),
    ]);
    await runFaked(job, {}, { effects });
    expect((await readLog(folder, { id: `${record.id}-2` })).at(-1)).toMatch(/ done$/);
  });

  test('publishes when a check of all of them is skipped', async () => {
    const text = FULL.replace('[unique_keys]', 'all');
    const { record } = await freshPlace().run(text, {
      runChecks: async () => [{ name: 'unique_keys', status: 'skipped', offenders: 0, reason: 'no table' }],
    });
    expect(record.state).toBe('done');
    expect(record.steps).toContainEqual(
      expect.objectContaining({ kind: 'check', status: 'skipped', message: 'no table' }),
    );
  });

  test('needs no network if it exports nothing', async () => {
    const place = freshPlace();
    const text = "network: mainnet\nmarts: all\nreports: [{report: export-health, output: 'OUT/{job}-{date}.md'}]\n";
    const { record } = await place.run(text, { withChain: () => Promise.reject(new Error('the network was asked')) });
    expect(record.steps.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      ...['range done', 'export skipped', 'mart done', 'report done', 'publish done'],
    ]);
    expect(place.files()).toEqual(['nightly-2026-05-04.md']);
  });

  test.each<{ name: string; over: FakeActions; code: string; says: RegExp }>([
    {
      name: 'a check fails',
      over: { runChecks: async () => [{ name: 'unique_keys', status: 'failed', offenders: 3 }] },
      code: 'checks-failed',
      says: /^job nightly: 1 of 1 checks failed: unique_keys; nothing was published; hint: tonlake test/,
    },
    {
      name: 'a check that the job names is skipped',
      over: {
        runChecks: async () => [{ name: 'unique_keys', status: 'skipped', offenders: 0, reason: 'no table' }],
      },
      code: 'checks-failed',
      says: /1 of 1 checks failed: unique_keys \(skipped\); nothing was published/,
    },
    {
      name: 'the export is not whole',
      over: {
        run: async (options) => ({ ...(await fakeActions().actions.run(options)), complete: false, quarantined: 2 }),
      },
      code: 'incomplete',
      says: /expected 1221:1230 complete, got 2 records in quarantine; nothing was published/,
    },
    {
      name: 'the source fails',
      over: { run: () => Promise.reject(new SourceError('source blocks: 500 after 8 attempts', { code: 'http' })) },
      code: 'http',
      says: /^source blocks: 500 after 8 attempts$/,
    },
    {
      name: 'a mart cannot be built',
      over: { buildMarts: () => Promise.reject(new Error('no such column')) },
      code: 'unexpected',
      says: /no such column/,
    },
    {
      name: 'a report has no data',
      over: { renderReport: async () => ({ content: 'x', gaps: [], isEmpty: true }) },
      code: 'job',
      says: /expected data for the report network-daily, got none; nothing was published/,
    },
    {
      name: 'the last of several outputs cannot be written',
      over: { exportRows: () => Promise.reject(new Error('disk full')) },
      code: 'unexpected',
      says: /disk full/,
    },
  ])('leaves the outputs of yesterday as they are when $name', async ({ over, code, says }) => {
    const place = freshPlace();
    place.write('blocks.csv', 'of yesterday');
    const { record, error } = await place.run(FULL, over);
    expect(formatError(error)).toMatch(says);
    expect(record).toMatchObject({ state: 'failed', error: { code } });
    expect(record.steps.at(-1)?.status).toMatch(/failed|skipped/);
    expect(place.files()).toEqual(['blocks.csv']);
    expect(place.read('blocks.csv')).toBe('of yesterday');
    // Once it works, the same command publishes.
    expect((await place.run(FULL)).record.state).toBe('done');
    expect(place.files()).toEqual(['blocks.csv', 'network-2026-05-03.html']);
  });

  test('an output that cannot be written is reported before anything is published', async () => {
    const place = freshPlace();
    mkdirSync(join(place.folder, 'out/blocks.csv'), { recursive: true });
    place.write('network-2026-05-03.html', 'of yesterday');
    const { error } = await place.run(FULL);
    expect(formatError(error)).toMatch(/^job: cannot write \S+blocks.csv: it is a folder; hint: nothing was published/);
    expect(place.read('network-2026-05-03.html')).toBe('of yesterday');
    expect(place.files()).toEqual(['blocks.csv', 'network-2026-05-03.html']);
  });

  test('two jobs on one warehouse at once are refused', async () => {
    const place = freshPlace();
    const lock = await lockJobs(join(place.folder, 'w'), 'run', realEffects, 'tonlake job run other.yaml');
    await expect(place.run(FULL)).rejects.toThrow(/^store: warehouse \S+ is used by a job by process \d+, this one,/);
    await lock.release();
    const own = await lockJobs(join(place.folder, 'w'), 'run', realEffects, 'tonlake job run nightly');
    await expect(place.run(FULL)).rejects.toMatchObject({
      code: 'runs-already',
      message: expect.stringMatching(/^job nightly: is run already by process \d+, this one, since \S+Z \(tonlake /),
    });
    await own.release();
  });

  test('stopped, it publishes nothing, and a run on the same day continues with the same range', async () => {
    const place = freshPlace();
    const stop = new AbortController();
    const over: FakeActions = {
      buildMarts: async () => {
        stop.abort();
        return [];
      },
    };
    const first = await place.run(FULL, over, NIGHT, stop.signal);
    expect(first.record.state).toBe('interrupted');
    expect(place.read('blocks.csv')).toBeUndefined();
    const again = await place.run(FULL);
    expect(again.record).toMatchObject({ id: first.record.id, state: 'done', now: first.record.now });
    expect(again.record.attempts).toHaveLength(2);
    expect(await place.records()).toHaveLength(1);
  });

  test('a resumed run keeps its range, even if the head has moved', async () => {
    const place = freshPlace();
    const stop = new AbortController();
    let head = 1000;
    const moving: FakeActions = {
      withChain: (_options, use) =>
        use({
          ...{ head: async () => head, headTime: async () => NIGHT + head },
          ...{ firstOfDay: async () => 0, lastOfDay: async () => 0, blockTime: async () => 0 },
          ...{ firstSince: async () => 0, lastBefore: async () => 0, today: async () => '2026-05-02' },
        }),
    };
    const text = `${HEAD}range: "-10:"\nclock: chain\nmarts: [block_times]\n`;
    const stopping: FakeActions = {
      ...moving,
      buildMarts: async () => {
        stop.abort();
        return [];
      },
    };
    const first = await place.run(text, stopping, NIGHT, stop.signal);
    head = 2000;
    const again = await place.run(text, moving);
    expect(again.record.range).toEqual(first.record.range);
    expect(again.record).toMatchObject({ range: { blocks: '991:1000' }, now: first.record.now });
    expect((await place.run(text, moving)).record.range).toMatchObject({ blocks: '1991:2000' });
  });

  test('an unfinished run of another day is abandoned, and a changed job starts again', async () => {
    const place = freshPlace();
    const stop = AbortSignal.abort();
    await place.run(FULL, {}, NIGHT, stop);
    await place.run(FULL, {}, NIGHT + 86_400_000, stop);
    await place.run(FULL.replace('marts: [gas_fees_daily, block_times]\n', ''), {}, NIGHT + 86_400_000);
    const records = await place.records();
    expect(records.map(({ id, state }) => [id, state])).toEqual([
      ['20260504T031500Z', 'abandoned'],
      ['20260505T031500Z', 'abandoned'],
      ['20260505T031500Z-2', 'done'],
    ]);
  });
});

test('a run starts over once a file that its job names has changed', async () => {
  const place = freshPlace();
  const [query, report] = [join(place.folder, 'fees.sql'), join(place.folder, 'fees')];
  mkdirSync(report);
  const contents = [
    ['select 1 as n', 'Fees'],
    ['select 2 as n', 'Fees'],
    ['select 2 as n', 'All fees'],
  ] as const;
  const exports = `exports:\n  - {file: ${query}, output: OUT/a.csv}\n`;
  const text = `${HEAD}range: yesterday\nreports:\n  - {report: ${report}, output: OUT/a.html}\n${exports}`;
  for (const [sql, title] of contents) {
    writeFileSync(query, sql);
    const body = '```sql n\nselect 1 as n\n```\n```table n\ntitle: Numbers\n```\n';
    writeFileSync(join(report, 'report.md'), `---\ntitle: ${title}\ndoc: What was paid.\n---\n${body}`);
    await place.run(text, {}, NIGHT, AbortSignal.abort());
  }
  await place.run(text);
  expect((await place.records()).map(({ state, attempts }) => [state, attempts.length])).toEqual([
    ['abandoned', 1],
    ['abandoned', 1],
    ['done', 2],
  ]);
});

describe('a run that was killed while publishing', () => {
  const text = `${HEAD}range: yesterday\nexports:\n  - {table: blocks, output: OUT/a.csv}\n  - {table: messages, output: OUT/b.csv}\n`;

  /** A place where the first of two outputs was put, and the process died. */
  async function killedPlace(): Promise<Place> {
    const place = freshPlace();
    const { record } = await place.run(text);
    const outputs = record.outputs.map((output) => ({
      ...output,
      sha256: createHash('sha256').update('newer').digest('hex'),
    }));
    const [first, second] = outputs;
    writeFileSync(first?.path ?? '', 'newer');
    writeFileSync(second?.staged ?? '', 'newer');
    const history = await JobHistory.open(join(place.folder, 'w'), 'nightly');
    await history.write({ ...record, state: 'publishing', outputs, publishedAt: undefined }, realEffects);
    return place;
  }

  test('is completed by the next run, which does nothing else', async () => {
    const place = await killedPlace();
    const { record, asked } = await place.run(text);
    expect(asked.steps).toEqual([]);
    expect(record).toMatchObject({ id: '20260504T031500Z', state: 'done', attempts: [{}, {}] });
    expect([place.read('a.csv'), place.read('b.csv')]).toEqual(['newer', 'newer']);
    expect(place.files()).toEqual(['a.csv', 'b.csv']);
  });

  test('is also completed by a run of another day, before that starts', async () => {
    const place = await killedPlace();
    const before: (string | undefined)[] = [];
    const over: FakeActions = {
      buildMarts: async () => {
        before.push(place.read('a.csv'), place.read('b.csv'));
        return [];
      },
    };
    const { record } = await place.run(`${text}marts: all\n`, over, NIGHT + 86_400_000);
    expect(before).toEqual(['newer', 'newer']);
    expect(record.state).toBe('done');
    expect(place.read('b.csv')).not.toBe('newer');
    expect((await place.records()).map(({ state }) => state)).toEqual(['done', 'done']);
    expect(place.files()).toEqual(['a.csv', 'b.csv']);
  });
});

describe('a range', () => {
  test.each([
    ['yesterday', '1221:1230', '2026-05-03', '2026-05-03'],
    ['Last 7 days', '1161:1230', '2026-04-27', '2026-05-03'],
    ['2026-05-01', '1201:1210', '2026-05-01', '2026-05-01'],
    ['2026-05-01:2026-05-02', '1201:1220', '2026-05-01', '2026-05-02'],
    ['"100:200,300"', '100:200,300', undefined, undefined],
    ['4711', '4711', undefined, undefined],
    ['"-10:"', '4991:5000', undefined, undefined],
    ['"2026-05-01:"', '1201:5000', '2026-05-01', undefined],
    ['"1195:2026-05-01"', '1195:1210', undefined, '2026-05-01'],
    ['"2026-05-01,2026-05-03"', '1201:1210,1221:1230', '2026-05-01', '2026-05-03'],
  ])('%s is %s', async (range, blocks, firstDay, lastDay) => {
    const { record } = await freshPlace().run(`${HEAD}range: ${range}\n`);
    expect(record.range).toEqual(JSON.parse(JSON.stringify({ ...record.range, blocks, firstDay, lastDay })));
    expect(record.state).toBe('done');
  });

  test.each([
    ['"1195:1212"', 'UTC', '2026-04-30', '2026-05-02'],
    ['4711', 'UTC', '2027-04-17', '2027-04-17'],
    ['"2026-05-01:"', 'UTC', '2026-05-01', '2027-05-15'],
    ['"1195:2026-05-01"', 'UTC', '2026-04-30', '2026-05-01'],
    ['"1201:1210"', 'Asia/Tokyo', '2026-05-01', '2026-05-02'],
  ])('of blocks gives outputs their days: %s in %s is from %s to %s', async (range, zone, first, last) => {
    const place = freshPlace();
    const query = 'select $first_date, $date';
    await place.run(
      `${HEAD}range: ${range}\nzone: ${zone}\nexports: [{query: '${query}', output: 'OUT/{first_date}-{date}.csv'}]\n`,
    );
    expect(place.files()).toEqual([`${first}-${last}.csv`]);
    const { parameters } = JSON.parse(place.read(`${first}-${last}.csv`) ?? '');
    expect(parameters).toMatchObject({ first_date: first, date: last });
  });

  test('of blocks names outputs by them also when a run that was cut short is taken up', async () => {
    const place = freshPlace();
    const text = `${HEAD}range: "1195:1212"\nexports: [{table: blocks, output: 'OUT/{date}.csv'}]\n`;
    const stopped = await place.run(text, {}, NIGHT, AbortSignal.abort());
    const again = await place.run(text);
    expect(again.record).toMatchObject({ id: stopped.record.id, state: 'done', attempts: [{}, {}] });
    expect(place.files()).toEqual(['2026-05-02.csv']);
  });

  test('whose days cannot be fetched fails the run', async () => {
    const place = freshPlace();
    const { actions } = fakeActions();
    const withChain: JobActions['withChain'] = (options, use) =>
      actions.withChain(options, (chain) => use({ ...chain, blockTime: () => Promise.reject(new Error('no answer')) }));
    const text = `${HEAD}range: "1195:1212"\nexports: [{table: blocks, output: 'OUT/{date}.csv'}]\n`;
    const { record, error } = await place.run(text, { withChain });
    expect(formatError(error)).toBe('no answer');
    expect(record.steps.at(-1)).toMatchObject({ kind: 'range', status: 'failed', message: 'no answer' });
  });

  test('days that an earlier run has exported need no source', async () => {
    const place = freshPlace();
    const text = `${HEAD}range: yesterday\nchecks: [unique_keys]\n`;
    const outage = { withChain: () => Promise.reject(new Error('no answer')) };
    const failed = async () => [{ name: 'unique_keys', status: 'failed', offenders: 1 } as const];
    const first = await place.run(text, { runChecks: failed });
    expect(first.record).toMatchObject({ state: 'failed', range: { blocks: '1221:1230' } });
    const again = await place.run(text, outage);
    expect(again.record).toMatchObject({ state: 'done', range: first.record.range });
    expect(again.record.id).not.toBe(first.record.id);
    const other = await place.run(text.replace('yesterday', 'last 2 days'), outage);
    expect(formatError(other.error)).toBe('no answer');
  });

  test('days are those of the zone', async () => {
    const late = Date.UTC(2026, 4, 4, 23, 30);
    const utc = await freshPlace().run(`${HEAD}range: yesterday\n`, {}, late);
    const berlin = await freshPlace().run(`${HEAD}range: yesterday\nzone: Europe/Berlin\n`, {}, late);
    expect([utc, berlin].map(({ record }) => record.range?.lastDay)).toEqual(['2026-05-03', '2026-05-04']);
  });

  test('days are counted from the newest block with the clock of the chain', async () => {
    const { record } = await freshPlace().run(`${HEAD}range: yesterday\nclock: chain\n`);
    expect(record).toMatchObject({ now: '2026-05-02T00:33:00.000Z', range: { lastDay: '2026-05-01' } });
  });

  test('since last run starts where the last finished run ended, or at `start` on the first run', async () => {
    const place = freshPlace();
    let head = 1500;
    const withChain: JobActions['withChain'] = (_options, use) =>
      use({
        ...{ head: async () => head, headTime: async () => NIGHT },
        ...{ firstOfDay: async () => 1201, lastOfDay: async () => 1210, blockTime: async () => NIGHT },
        ...{ firstSince: async () => 1205, lastBefore: async () => 1204, today: async () => '2026-05-02' },
      });
    const text = `${HEAD}range: since last run\nstart: 2026-05-01\n`;
    const failing = { withChain, runChecks: () => Promise.reject(new Error('no')) };
    const blocks: unknown[] = [];
    for (const [at, over] of [{ withChain }, failing, { withChain }, { withChain }].entries()) {
      const isFailing = over === failing;
      const { record } = await place.run(
        isFailing ? `${text}checks: [unique_keys]\n` : text,
        over,
        NIGHT + at * 3_600_000,
      );
      blocks.push(record.range?.blocks ?? record.steps.find(({ kind }) => kind === 'export')?.message);
      head += at === 2 ? 0 : 100;
    }
    expect(blocks).toEqual(['1201:1500', '1501:1600', '1501:1700', 'no new blocks; outputs are unchanged']);
  });
});

describe('a run since the last one without new blocks', () => {
  const text = `${HEAD}range: since last run
start: 4991
marts: all
checks: all
reports: [{report: network-daily, output: OUT/day.html}]
exports: [{query: 'select $from, $to', output: 'OUT/{date}.json'}]
notify: [{command: [told], on: success}]
`;

  test('is done and leaves the outputs of the last one as they are', async () => {
    const place = freshPlace();
    expect((await place.run(text)).record).toMatchObject({ state: 'done', range: { from: 4991, to: 5000 } });
    const before = place.files().map((file) => [file, place.read(file)]);
    expect(before.map(([file]) => file)).toEqual(['2027-05-15.json', 'day.html']);
    const { record, asked } = await place.run(`${text}retention: {keep: 90d}\n`, {}, NIGHT + 86_400_000);
    expect(asked.steps).toEqual([]);
    expect(record).toMatchObject({ state: 'done', outputs: [] });
    expect(record.steps.map(({ kind, status, message }) => `${kind} ${status} ${message}`)).toEqual([
      'range done no new blocks',
      'export skipped no new blocks; outputs are unchanged',
      'notify done undefined',
    ]);
    expect(place.files().map((file) => [file, place.read(file)])).toEqual(before);
    expect(describeRecord(record)).toBe('done: nightly on mainnet, nothing new\n');
    expect(await describeHistory([record], async () => 'done')).toContain('nothing new');
    expect(asked.notices.map((body) => JSON.parse(body).text)).toEqual(['nightly done: nothing new']);
  });

  test('publishes again when there are new blocks, from the end of the last run with blocks', async () => {
    const place = freshPlace();
    await place.run(text);
    await place.run(text, {}, NIGHT + 1000);
    const { actions } = fakeActions();
    const withChain: JobActions['withChain'] = (options, use) =>
      actions.withChain(options, (chain) => use({ ...chain, head: async () => 5020 }));
    const { record } = await place.run(text, { withChain }, NIGHT + 2000);
    expect(record).toMatchObject({ state: 'done', range: { blocks: '5001:5020' } });
    expect(JSON.parse(place.read('2027-05-17.json') ?? '').parameters).toMatchObject({ from: 5001, to: 5020 });
  });
});

describe('notices', () => {
  const text = `${HEAD}range: yesterday
checks: [unique_keys]
notify:
  - {command: [on-failure]}
  - {command: [on-success], on: success}
  - {command: [always], on: always}
`;
  const failed: FakeActions = {
    runChecks: async () => [{ name: 'unique_keys', status: 'failed', offenders: 3 }],
  };

  test('are sent for the chosen results, with the record as JSON', async () => {
    const told: string[] = [];
    const notify: JobActions['notify'] = async (target, body) => {
      const { text: line, state, steps } = JSON.parse(body);
      told.push(`${target.kind === 'command' ? target.command[0] : ''}: ${state}, ${steps.length} steps, ${line}`);
    };
    await freshPlace().run(text, { notify });
    await freshPlace().run(text, { ...failed, notify });
    expect(told).toEqual([
      'on-success: done, 3 steps, nightly done: 2026-05-03',
      'always: done, 3 steps, nightly done: 2026-05-03',
      expect.stringMatching(
        /^on-failure: failed, 3 steps, nightly failed: 2026-05-03: job nightly: 1 of 1 checks failed/,
      ),
      expect.stringMatching(/^always: failed, 3 steps/),
    ]);
  });

  test('that fail are reported and change nothing else', async () => {
    const { record } = await freshPlace().run(text, { notify: () => Promise.reject(new Error('no such program')) });
    expect(record.state).toBe('done');
    expect(record.steps.filter(({ kind }) => kind === 'notify')).toMatchObject([
      { name: 'on-success', status: 'failed', message: 'no such program' },
      { name: 'always', status: 'failed', message: 'no such program' },
    ]);
  });

  test('of a failure are sent once it will not be tried again, and again only if it fails otherwise', async () => {
    const job = await freshPlace().job(`${HEAD}range: yesterday\nnotify: [{command: [on-failure]}]\n`);
    const told: string[] = [];
    const failWith = async (code: string, retryable: boolean, isTold = true): Promise<void> => {
      const preflight = async () => [{ name: 'write', error: new StoreError(code, { code, retryable }) }];
      const notify = async (): Promise<void> => {
        if (!isTold) throw new Error('the mail server is down');
        told.push(`${code}, ${retryable ? 'for now' : 'for good'}`);
      };
      await runFaked(job, { preflight, notify }, { trigger: 'schedule' });
    };
    await failWith('away', true);
    expect(told).toEqual([]);
    await failWith('denied', false, false);
    await failWith('denied', false);
    await failWith('denied', false);
    await failWith('away', true);
    await failWith('denied', false);
    expect(told).toEqual(['denied, for good']);
  });

  test('of a failure are sent again if another step fails with the same code, not if only numbers differ', async () => {
    const job = await freshPlace().job(
      `${HEAD}range: yesterday\nchecks: [unique_keys, not_null]\nnotify: [{command: [on-failure]}]\n`,
    );
    const told: string[] = [];
    const failAt = async (failed: string, offenders: number): Promise<void> => {
      const runChecks: FakeActions['runChecks'] = async () =>
        ['unique_keys', 'not_null'].map((name) => ({ name, offenders, status: name === failed ? 'failed' : 'passed' }));
      const notify = async (): Promise<void> => void told.push(`${failed}, ${offenders} rows`);
      await runFaked(job, { runChecks, notify }, { trigger: 'schedule' });
    };
    await failAt('unique_keys', 3);
    await failAt('unique_keys', 5);
    await failAt('not_null', 5);
    await failAt('not_null', 7);
    expect(told).toEqual(['unique_keys, 3 rows', 'not_null, 5 rows']);
  });

  test('an address of a webhook is in no record, only its host', async () => {
    const secret = `${HEAD}range: yesterday\nnotify: [{webhook: 'https://hooks.example.org/s3cr3t', on: always}]\n`;
    const { record } = await freshPlace().run(secret);
    expect(JSON.stringify(record)).not.toContain('s3cr3t');
    expect(record.steps.at(-1)).toMatchObject({ kind: 'notify', name: 'hooks.example.org', status: 'done' });
  });
});

test('a line of a step counts the rows of an export by table, and other rows as rows', () => {
  const step = { name: 'transactions', status: 'done', seconds: 1 } as const;
  expect(describeStep({ ...step, kind: 'export', rows: { blocks: 3, transactions: 2 }, requests: 1 })).toBe(
    'export transactions: done, 3 blocks, 2 transactions, 1 request (1 s)',
  );
  expect(describeStep({ ...step, kind: 'rows', rows: { transactions: 1 } })).toBe(
    'rows transactions: done, 1 row (1 s)',
  );
});
