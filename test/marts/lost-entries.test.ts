import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { martPipeline } from '../../src/marts/commit-mart.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { dropFile, entriesOf, fillLedger, loseEntry, verify } from '../verify/support.ts';
import { copyOf, exportSandbox, hashMarts } from './support.ts';

const names = ['transactions_daily', 'latest_balances'];

async function repair(path: string) {
  const { code, stdout, stderr } = await tonlake(['verify', '--repair', '--warehouse', path]);
  return { code, said: stdout + stderr };
}

describe.each(['w', 'w.duckdb'])('a mart of %s of which an entry is lost', (name) => {
  let built: string;
  let wanted: Readonly<Record<string, string>>;

  beforeAll(async () => {
    built = await exportSandbox('4990:5009', ['transactions'], join(freshFolder(), name));
    await buildMarts(built, { names });
    wanted = await hashMarts(built, names);
  });

  /** A copy without the first entry of a mart, which is not the newest one, and without its rows where they are in files. */
  async function lose(mart: string): Promise<string> {
    const path = await copyOf(built);
    const entry = (await entriesOf(path)).find(({ pipeline }) => pipeline === martPipeline(mart));
    for (const file of entry?.tables[mart]?.files ?? []) dropFile(path, file.path);
    await loseEntry(path, entry?.number ?? 0);
    return path;
  }

  test.each(names)('has its rows again after a repair, also after another one that was killed: %s', async (mart) => {
    const path = await lose(mart);
    const killed = await copyOf(path);
    await fillLedger(killed);
    for (const own of [path, killed]) {
      const { findings } = await verify(own);
      expect(findings.map(({ pipeline }) => pipeline)).toContain(martPipeline(mart));
      const { code, said } = await repair(own);
      expect(code, said).toBe(0);
      expect(said).toContain(`repaired ${martPipeline(mart)}`);
      expect(await hashMarts(own, names)).toEqual(wanted);
      expect((await verify(own)).findings).toEqual([]);
    }
  });

  test('is built by the next build, with each row once', async () => {
    const path = await lose('transactions_daily');
    await fillLedger(path);
    await buildMarts(path, { names });
    expect(await hashMarts(path, names)).toEqual(wanted);
    expect((await verify(path)).findings).toEqual([]);
  });

  test('says that inputs were forgotten, until they are exported and it is built again', async () => {
    const path = await lose('transactions_daily');
    await fillLedger(path);
    await forgetRange({ warehouse: path, pipelines: ['transactions', 'blocks'], range: '4990:5000' });
    const { code, said } = await repair(path);
    expect(code).toBe(1);
    expect(said).not.toContain('repaired mart:transactions_daily');
    expect((await verify(path)).findings).toMatchObject([
      {
        kind: 'not-done',
        pipeline: 'mart:transactions_daily',
        got: 'none: transactions forgotten 4990:4999, which a run has to export again first',
      },
    ]);
    await exportSandbox('4990:5000', ['transactions'], path);
    expect((await repair(path)).code).toBe(0);
    expect(await hashMarts(path, names)).toEqual(wanted);
  });
});
