import { expect } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { bucketBackend } from '../../src/warehouse/bucket-store/bucket-backend.ts';
import { openStore } from '../../src/warehouse/index.ts';
import { type S3Relay, useS3 } from '../objects/s3-server.ts';

const DAY_MS = 86_400_000;

/** Data files that no entry names, after a collection of garbage at a time when all files are two days old. */
export async function unnamedFiles(warehouse: string, network: string, relay: S3Relay): Promise<readonly string[]> {
  useS3(relay);
  const { objects } = bucketBackend(warehouse);
  relay.change = ({ path }, text) => (path.includes('list-type=2') ? aged(text) : text);
  const { tables } = await loadRegistry();
  const store = await openStore({ path: warehouse, network, tables, pipelines: [], effects: realEffects, graceMs: 0 });
  const removed = await store.clearSuperseded();
  const named = new Set(
    store
      .ledger()
      .flatMap((entry) => Object.values(entry.tables).flatMap((table) => table.files.map(({ path }) => path))),
  );
  await store.close();
  relay.change = undefined;
  const left = (await objects.list('tables/')).map(({ key }) => key);
  process.stdout.write(`${removed} files that no entry names were removed, ${named.size} stay\n`);
  expect(left.length).toBe(named.size);
  return left.filter((path) => !named.has(path));
}

/** A listing in which data files were put two days earlier. */
function aged(listing: string): string {
  return listing.replace(/<Contents>.*?<\/Contents>/gs, (each) =>
    /<Key>w(\/|%2F)tables/.test(each)
      ? each.replace(
          /(<LastModified>)([^<]+)/,
          (_, tag, at) => tag + new Date(Date.parse(at) - 2 * DAY_MS).toISOString(),
        )
      : each,
  );
}
