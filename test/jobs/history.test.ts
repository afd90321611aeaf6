import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMark } from '../../src/files/process-liveness.ts';
import { JobHistory, lastBlock, unfinished } from '../../src/jobs/run-history.ts';
import { logPath } from '../../src/jobs/run-log.ts';
import { dueId, type JobRecord } from '../../src/jobs/run-record.ts';
import { freshFolder } from '../scratch.ts';

const START = Date.UTC(2026, 0, 1);

function record(minute: number, more: Partial<JobRecord>): JobRecord {
  const due = START + minute * 60_000;
  return {
    ...{ format: 1, id: dueId(due), job: 'often', file: 'often.yaml', digest: '', network: 'sandbox', warehouse: 'w' },
    ...{ pipelines: ['blocks'], zone: 'UTC', trigger: 'schedule', due: new Date(due).toISOString(), state: 'failed' },
    ...{ attempts: [], steps: [], outputs: [] },
    ...more,
  };
}

test('however many runs fail, the history knows how far the job came and what is under way', async () => {
  const history = await JobHistory.open(join(freshFolder(), 'w'), 'often');
  mkdirSync(history.folder, { recursive: true });
  const records = [
    record(0, { state: 'done', range: { from: 1, to: 400 } }),
    record(1, { state: 'done', range: { from: 401, to: 500 } }),
    record(2, { state: 'interrupted' }),
    record(3, { state: 'done', pipelines: ['blocks', 'transactions'], range: { from: 1, to: 300 } }),
    ...Array.from({ length: 1001 }, (_, at) => record(4 + at, {})),
  ];
  for (const one of records) writeFileSync(join(history.folder, `${one.id}.json`), JSON.stringify(one));
  // One that cannot be read is forgotten.
  writeFileSync(join(history.folder, `${dueId(START - 60_000)}.json`), '{');
  writeFileSync(join(history.folder, 'draft-1'), '');
  for (const gone of [dueId(START - 60_000), records[4]?.id])
    writeFileSync(logPath(history.folder, { id: gone ?? '' }), 'old\n');
  await history.tidy();
  const kept = await history.read();
  expect(kept).toHaveLength(1003);
  expect(lastBlock(kept, ['blocks'])).toBe(500);
  expect(lastBlock(kept, ['transactions'])).toBe(300);
  expect(unfinished(kept)).toHaveLength(1);
  expect(readdirSync(history.folder)).toHaveLength(1003);
});

test('a run is shown as killed once its process is gone, or if it never began', async () => {
  const history = await JobHistory.open(join(freshFolder(), 'w'), 'often');
  const owner = await readMark();
  const attempts = (startedAt: string) => [
    { startedAt: new Date(START).toISOString(), owner: { ...owner, startedAt } },
  ];
  expect(await history.stateOf(record(0, { state: 'done' }))).toBe('done');
  expect(await history.stateOf(record(0, { state: 'running' }))).toBe('killed');
  expect(await history.stateOf(record(0, { state: 'running', attempts: attempts('never') }))).toBe('killed');
  expect(await history.stateOf(record(0, { state: 'publishing', attempts: attempts(owner.startedAt) }))).toBe(
    'publishing',
  );
});
