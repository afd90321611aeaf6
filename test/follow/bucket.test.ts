import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { hashTables } from '../e2e/export.ts';
import { HAS_BUCKETS, startS3, useS3 } from '../objects/s3-server.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, reaches, startGrowing } from './support.ts';

describe.skipIf(!HAS_BUCKETS)(
  'following into an object store (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
  () => {
    beforeAll(async () => {
      useS3(await startS3());
    });

    test('merges files, goes on where it was stopped, and a reader sees every state', async () => {
      const { effects, sandbox } = await startGrowing(120, { activity: 0.1 });
      const warehouse = 's3://lake/one';
      const options = { pipelines: ['transactions'], network: sandbox.url, warehouse, effects, lagMs: 10_000 };
      const first = await followUntil(reaches(HEAD + 60), { ...options, from: '-2:' });
      const reader = await openWarehouse(warehouse);
      const count = async () => Number((await reader.query('SELECT count(*) FROM transactions')).rows[0]?.[0]);
      const before = await count();
      const counts: Promise<number>[] = [];
      const second = await followUntil((event) => {
        if (event.event === 'lag' || event.event === 'merged') counts.push(count());
        return reaches(HEAD + 120)(event);
      }, options);
      expect(await Promise.all(counts)).toSatisfy((all: readonly number[]) =>
        all.every((each, at) => each >= (all[at - 1] ?? before)),
      );
      await reader.close();
      const events = [...first.events, ...second.events];
      expect(events.filter(({ event }) => event === 'merge-failed' || event === 'waiting')).toEqual([]);
      expect(events.some(({ event }) => event === 'merged')).toBe(true);
      expect(second.report).toMatchObject({ from: HEAD - 1, to: HEAD + 120, complete: true });
      const once = join(freshFolder(), 'once');
      await run({ ...options, warehouse: once, range: `${HEAD - 1}:${HEAD + 120}` });
      expect(await hashTables(warehouse)).toEqual(await hashTables(once));
    });

    test('two at once on one bucket have each row once, and neither fails', async () => {
      const { effects, sandbox } = await startGrowing(60, { activity: 0.1 });
      const warehouse = 's3://lake/two';
      const options = { pipelines: ['transactions'], network: sandbox.url, warehouse, effects, lagMs: 10_000 };
      const followOne = () => followUntil(reaches(HEAD + 60), { ...options, from: '-2:' });
      const both = await Promise.all([followOne(), followOne()]);
      for (const { report, events } of both) {
        expect(report.complete).toBe(true);
        expect(events.filter(({ event }) => ['problem', 'waiting', 'merge-failed'].includes(event))).toEqual([]);
      }
      const once = join(freshFolder(), 'once');
      await run({ ...options, warehouse: once, range: `${HEAD - 1}:${HEAD + 60}` });
      expect(await hashTables(warehouse)).toEqual(await hashTables(once));
    });
  },
);
