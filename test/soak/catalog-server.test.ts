import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { readCatalogConfig } from '../../src/iceberg/rest/catalog-config.ts';
import { freePort } from '../free-port.ts';
import { publish, publishTables, readTable } from '../iceberg/published.ts';
import { afterFile, freshFolder } from '../scratch.ts';
import { compact } from '../warehouse/compacting.ts';
import { clockAt, commitItems, freshPath, openTestStore } from '../warehouse/warehouses.ts';

/** Folder with what `catalog-server/pom.xml` names. */
const JARS = process.env['TONLAKE_CATALOG_SERVER'] ?? '';
const PYTHON = process.env['TONLAKE_PYTHON'] ?? 'python3';

/** Rows of each table by a reader that knows only the address of the catalog. */
const READ = `
import json, sys
from pyiceberg.catalog import load_catalog
catalog = load_catalog('own', type='rest', uri=sys.argv[1])
tables = [catalog.load_table(name) for name in catalog.list_tables(sys.argv[2])]
print(json.dumps({table.name()[-1]: table.scan().to_arrow().num_rows for table in tables}))`;

describe.skipIf(!existsSync(JARS))(
  'the catalog of Apache Iceberg itself (skipped without TONLAKE_CATALOG_SERVER)',
  () => {
    let uri: string;

    beforeAll(async () => {
      const port = await freePort();
      uri = `http://127.0.0.1:${port}`;
      const env = {
        ...{ PATH: process.env['PATH'], CATALOG_REST_PORT: String(port), CATALOG_WAREHOUSE: freshFolder() },
        CATALOG_IO__IMPL: 'org.apache.iceberg.hadoop.HadoopFileIO',
        // By default each connection has a database of its own, in memory.
        ...{ CATALOG_URI: `jdbc:sqlite:${join(freshFolder(), 'catalog.db')}`, CATALOG_CLIENTS: '1' },
      };
      const args = ['-Xmx256m', '-cp', `${JARS}/*`, 'org.apache.iceberg.rest.RESTCatalogServer'];
      const server = spawn('java', args, { env, stdio: 'ignore' });
      const ended = new Promise((resolve) => server.once('exit', resolve));
      afterFile(async () => {
        server.kill();
        await ended;
      });
      while (
        !(await fetch(`${uri}/v1/config`).then(
          ({ ok }) => ok,
          () => false,
        ))
      )
        await delay(200);
    });

    async function addItems(path: string, ...starts: readonly number[]): Promise<void> {
      const store = await openTestStore(path);
      for (const from of starts) await commitItems(store, from, from + 9, { perDay: 15 });
      await store.close();
    }

    async function read(path: string, namespace: string, table: string, ref?: string) {
      const answer = await fetch(`${uri}/v1/namespaces/${namespace}/tables/${table}`);
      const { metadata } = (await answer.json()) as { readonly metadata: Record<string, unknown> };
      return { ...(await readTable(path, metadata, ref)), metadata };
    }

    test('takes each state, expires old ones, and drops what the ledger lost', async () => {
      const path = freshPath('parquet');
      // The server takes no time that lies before one of its own.
      const clock = clockAt(Date.now() - 26 * 3_600_000);
      const options = { catalog: readCatalogConfig({ uri, namespace: 'one.deep' }, {}), effects: clock };
      await addItems(path, 0, 10, 20);
      cpSync(path, `${path}-early`, { recursive: true });
      expect(await publish(path, options)).toMatchObject({ published: 2, skipped: [] });
      await addItems(path, 30);
      await compact(path);
      expect(await publish(path, options)).toMatchObject({ published: 2 });
      const namespace = 'one%2Edeep';
      expect((await read(path, namespace, 'items')).rows).toBe(40);
      expect((await read(path, namespace, 'items', 'entry-3')).rows).toBe(30);
      clock.time += 25 * 3_600_000;
      expect(await publish(path, options)).toMatchObject({ published: 0 });
      const { metadata } = await read(path, namespace, 'items');
      expect([Object.keys(metadata['refs'] as object), metadata['snapshots']]).toEqual([
        expect.not.arrayContaining(['entry-3']),
        [expect.anything()],
      ]);
      // A backup of the warehouse: its ledger is another one from entry 4 on.
      cpSync(join(path, 'iceberg'), join(`${path}-early`, 'iceberg'), { recursive: true });
      rmSync(path, { recursive: true });
      cpSync(`${path}-early`, path, { recursive: true });
      rmSync(`${path}-early`, { recursive: true });
      await addItems(path, 100);
      const { events } = await publishTables(path, options);
      expect(events).toMatchObject([{ restarted: 'replaced' }, { restarted: 'replaced' }]);
      expect((await read(path, namespace, 'items')).rows).toBe(40);
    });

    test('has each state once that publishers commit at the same time, and pyiceberg reads the newest', async () => {
      const path = freshPath('parquet');
      const options = { catalog: readCatalogConfig({ uri, namespace: 'two' }, {}) };
      const store = await openTestStore(path);
      const publishers: Promise<unknown>[] = [];
      for (const from of [0, 10, 20, 30]) {
        await commitItems(store, from, from + 9);
        publishers.push(publish(path, options), publish(path, options));
      }
      await Promise.all(publishers);
      await store.close();
      await publish(path, options);
      const { rows, metadata } = await read(path, 'two', 'items');
      expect(rows).toBe(40);
      for (const tag of Object.keys(metadata['refs'] as object).filter((name) => name !== 'main'))
        expect((await read(path, 'two', 'items', tag)).rows).toBe(10 * Number(tag.slice(6)));
      const { stdout } = await promisify(execFile)(PYTHON, ['-c', READ, uri, 'two']);
      expect(JSON.parse(stdout)).toEqual({ items: 40, parts: 80 });
    });
  },
);
