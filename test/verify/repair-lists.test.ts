import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { endpointByPath, endpointOf } from '../../src/api/endpoints.ts';
import { isMasterchain } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { tonlake } from '../cli.ts';
import { ALL_FAULTS, NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { editFile } from '../warehouse/warehouses.ts';
import { contentOf, copyOf, ledgerFiles, readEntry, repair, verify } from './support.ts';

/** Blocks in which every pipeline has rows. */
const RANGE = '970:981';
const { lasting, pipelines } = await loadRegistry();
/** Lists, snapshots and lookups; verify.test.ts has the pipelines that headers prove. */
const LISTS = pipelines.filter((pipeline) => lasting.includes(pipeline.name) && !isMasterchain(pipeline));
const NAMES = LISTS.map(({ name }) => name);

/** Half of the usual rates: some pipelines send few requests, but many of them in a row. */
const FAULTS = Object.fromEntries(
  Object.entries(ALL_FAULTS).map(([name, value]) => [
    name,
    typeof value === 'number' && value < 0.1 ? value / 2 : value,
  ]),
);

const parquet = join(freshFolder(), 'w');
const duckdb = join(freshFolder(), 'w.duckdb');

// Far behind the head, so that nothing is written late.
const sandbox = await startTestSandbox({ blocks: 4000 });
for (const [warehouse, faults] of [[parquet, NO_FAULTS] as const, [duckdb, FAULTS] as const]) {
  sandbox.setFaults(faults);
  const troubles: RunEvent[] = [];
  const report = await run({
    ...{ pipelines: lasting, network: sandbox.url, range: RANGE, warehouse },
    onEvent: (event) => void (['problem', 'quarantine'].includes(event.event) && troubles.push(event)),
  });
  expect({ complete: report.complete, troubles }).toEqual({ complete: true, troubles: [] });
  const tables = LISTS.flatMap((pipeline) => pipeline.tables.map(({ name }) => name));
  expect(tables.filter((name) => (report.rows[name] ?? 0) === 0)).toEqual([]);
}
sandbox.setFaults(NO_FAULTS);
const sound = await contentOf(parquet);
afterEach(() => sandbox.setFaults(NO_FAULTS));

test('all pipelines give the same rows in a folder, and in a file from a source with every fault', async () => {
  expect(await contentOf(duckdb)).toEqual(sound);
});

/** Repairs a warehouse in which every list is damaged, and compares its tables with the undamaged ones. */
async function expectRepaired(path: string, kindOf: (pipeline: string) => Finding['kind']): Promise<void> {
  const { report, findings } = await repair(sandbox, path);
  const damaged = findings.filter(({ kind, pipeline }) => kind === kindOf(pipeline)).map(({ pipeline }) => pipeline);
  expect([...new Set(damaged)].sort()).toEqual(NAMES.toSorted());
  expect(report).toMatchObject({ proven: true, findings: 0 });
  expect(await contentOf(path)).toEqual(sound);
}

/** All files of a list, and of the keys that a lookup has read. */
function filesOf(warehouse: string, name: string): readonly string[] {
  return ledgerFiles(warehouse)
    .map(readEntry)
    .filter(({ pipeline }) => pipeline === name)
    .flatMap(({ tables }) => Object.values(tables).flatMap(({ files }) => files))
    .map(({ path }) => join(warehouse, path));
}

function flipByte(file: string): void {
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
  writeFileSync(file, bytes);
}

test('Parquet files of every list with a flipped byte, or cut short: a repair fetches the same rows again', async () => {
  const path = copyOf(parquet);
  const isCut = (name: string): boolean => NAMES.indexOf(name) % 2 === 1;
  for (const name of NAMES) {
    for (const file of filesOf(path, name)) {
      if (isCut(name)) truncateSync(file, 100);
      else flipByte(file);
    }
  }
  await expectRepaired(path, (name) => (isCut(name) ? 'file-unreadable' : 'file-changed'));
});

test('DuckDB rows of every list deleted, or with another key: a repair fetches the same rows again', async () => {
  const path = copyOf(duckdb);
  const changes = LISTS.flatMap(({ tables }) => tables).map(
    ({ name, key }) => `DELETE FROM _rows.${name} WHERE rowid % 2 = 1;
      UPDATE _rows.${name} SET ${key[0]} = (SELECT max(${key[0]}) FROM _rows.${name}) WHERE rowid = 0`,
  );
  await editFile(path, changes.join(';'));
  await expectRepaired(path, () => 'rows-changed');
});

describe('a source that leaves out rows that it had', () => {
  const lists = LISTS.flatMap(({ name, endpoint }) => {
    const { path, answer } = endpointOf(endpointByPath(endpoint.replace(/^\w+ /, '')));
    return answer.kind === 'rows' ? [[name, path.slice(1)] as const] : [];
  });

  test('a repair loses none of them, and tells of each list', async () => {
    const path = copyOf(parquet);
    const files = lists.flatMap(([name]) => filesOf(path, name));
    for (const file of files) flipByte(file);
    const damaged = files.map((file) => readFileSync(file));
    sandbox.setFaults({ omits: lists.map(([, endpoint]) => ({ path: endpoint, rate: 0.5, lasting: true })) });
    const told = new Set<string>();
    const { report } = await repair(sandbox, path, {
      onProblem: (event) => {
        if (event.event === 'problem' && ['fewer-rows', 'wrong-rows', 'unproven'].includes(event.code))
          told.add(event.pipeline);
      },
    });
    expect(report).toMatchObject({ proven: false });
    expect([...told].sort()).toEqual(lists.map(([name]) => name).sort());
    expect(files.map((file) => readFileSync(file))).toEqual(damaged);
  });

  test.each(['nft_sales', 'actions'])('%s can be taken as it is, as the hint says', async (name) => {
    const path = copyOf(parquet);
    for (const file of filesOf(path, name)) flipByte(file);
    const [, endpoint = ''] = lists.find(([list]) => list === name) ?? [];
    sandbox.setFaults({ omits: [{ path: endpoint, rate: 0.5, lasting: true }] });
    const hints: string[] = [];
    const onProblem = (event: object): void => void ('message' in event && hints.push(String(event.message)));
    await repair(sandbox, path, { onProblem });
    const [, command = ''] = /hint: tonlake (.*) takes what there is$/.exec(hints.join()) ?? [];
    await tonlake(command.split(' '));
    await run({ pipelines: [name], network: sandbox.url, range: RANGE, warehouse: path });
    expect((await verify(path)).report).toMatchObject({ proven: true, findings: 0 });
  });
});
