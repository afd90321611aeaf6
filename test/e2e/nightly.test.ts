import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { query } from './export.ts';

const JOB = join(import.meta.dirname, '../../pipelines/jobs/nightly-sandbox.yaml');

test('the job that comes with tonlake exports a day of the sandbox, checks it, and publishes its report', async () => {
  const plan = await tonlake(['job', 'run', JOB, '--dry-run'], { cwd: freshFolder() });
  expect(plan.stdout, plan.stderr).toMatch(/^nightly-sandbox 2026-05-01: 1:5000 on sandbox\n/);

  // Where a day has fewer blocks.
  const { url } = await startTestSandbox({ blocks: 460, blockTimeMs: 200_000 });
  const cwd = freshFolder();
  const text = readFileSync(JOB, 'utf8');
  expect(text).toContain('\nnetwork: sandbox\n');
  writeFileSync(
    join(cwd, 'nightly-sandbox.yaml'),
    text.replace('\nnetwork: sandbox\n', `\nnetwork: ${url}\nclock: chain\n`),
  );
  const { code, stdout, stderr } = await tonlake(['job', 'run', 'nightly-sandbox.yaml'], { cwd });
  expect(stdout, stderr).toContain(`done: nightly-sandbox 2026-05-02 (10:443) on ${url}\n`);
  expect(code).toBe(0);
  const out = join(cwd, 'data/reports/sandbox');
  expect(readdirSync(out).sort()).toEqual(['network-daily.html', 'transactions-daily.csv']);
  const [day] = await query(
    join(cwd, 'data/sandbox'),
    "select count(*), count(*) filter (aborted) from transactions where block_date = '2026-05-02'",
  );
  const [, first = ''] = readFileSync(join(out, 'transactions-daily.csv'), 'utf8').split('\n');
  expect(first.split(',')).toEqual(expect.arrayContaining(['2026-05-02', ...(day ?? [])]));
  const page = readFileSync(join(out, 'network-daily.html'), 'utf8');
  expect(page).toContain('<svg');
  // Long numbers may break between their digits.
  expect(page.replace(/<[^>]*>/g, '')).toContain(Number(day?.[0]).toLocaleString('en-US'));
});
