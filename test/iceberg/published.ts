import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { decodeAvro } from '../../src/iceberg/format/avro-container.ts';
import type { ObjectFolder } from '../../src/iceberg/object-folder.ts';
import { type PublishOptions, publishWarehouse } from '../../src/iceberg/publish-warehouse.ts';
import { items, parts } from '../warehouse/tables.ts';

export function publish(warehouse: string, more: Partial<PublishOptions> = {}) {
  return publishWarehouse({ warehouse, tables: [items, parts], ...more });
}

/** As `publish`. @returns the event of each table */
export async function publishTables(warehouse: string, more: Partial<PublishOptions> = {}) {
  const events: Record<string, unknown>[] = [];
  const report = await publish(warehouse, { ...more, onEvent: (event) => events.push({ ...event }) });
  return { report, events: events.slice(0, -1) };
}

/** A snapshot as a reader sees it that follows the specification and knows nothing of the ledger. */
export interface ReadSnapshot {
  readonly files: readonly string[];
  readonly rows: number;
}

const at = (json: unknown, ...keys: readonly (string | number)[]): unknown =>
  keys.reduce((value, key) => (value as Record<string | number, unknown> | undefined)?.[key], json);

/** The metadata that the hint names. */
export async function metadataOf(warehouse: string, table: string): Promise<Record<string, unknown>> {
  const folder = join(warehouse, 'iceberg', table, 'metadata');
  const version = await readFile(join(folder, 'version-hint.text'), 'utf8');
  return JSON.parse(await readFile(join(folder, `v${version}.metadata.json`), 'utf8'));
}

/** Names of the tags of a table, in order. */
export async function tagsOf(warehouse: string, table: string): Promise<readonly string[]> {
  const refs = at(await metadataOf(warehouse, table), 'refs') as Record<string, unknown>;
  return Object.keys(refs).filter((name) => name !== 'main');
}

/** Reads a snapshot by its name, and requires that every file which it names exists. */
export async function readSnapshot(warehouse: string, table: string, ref = 'main'): Promise<ReadSnapshot> {
  const metadata = await metadataOf(warehouse, table);
  const id = at(metadata, 'refs', ref, 'snapshot-id');
  const snapshot = (at(metadata, 'snapshots') as object[]).find((one) => at(one, 'snapshot-id') === id);
  expect(snapshot, `${table} ${ref}`).toBeDefined();
  const files: string[] = [];
  let rows = 0;
  for (const manifest of decodeAvro(await readFile(String(at(snapshot, 'manifest-list'))))) {
    const bytes = await readFile(String(at(manifest, 'manifest_path')));
    expect(bytes.length).toBe(at(manifest, 'manifest_length'));
    for (const entry of decodeAvro(bytes)) {
      if (at(entry, 'status') === 2) continue;
      const path = String(at(entry, 'data_file', 'file_path'));
      expect(existsSync(path), path).toBe(true);
      files.push(path.slice(warehouse.length + 1));
      rows += Number(at(entry, 'data_file', 'record_count'));
    }
  }
  expect(String(rows)).toBe(at(snapshot, 'summary', 'total-records'));
  expect(new Set(files).size).toBe(files.length);
  return { files: files.sort(), rows };
}

/** A folder in memory that behaves as an object store does. */
export function memoryFolder(root = '/w/iceberg/items'): ObjectFolder & { readonly objects: Map<string, Buffer> } {
  const objects = new Map<string, Buffer>();
  return {
    objects,
    uri: (name) => `${root}/${name}`,
    get: async (name) => objects.get(name),
    put: async (name, content) => {
      objects.set(name, Buffer.from(content));
    },
    putIfAbsent: async (name, content) => {
      if (objects.has(name)) return false;
      objects.set(name, Buffer.from(content));
      return true;
    },
    list: async (folder) =>
      [...objects.keys()].filter((name) => name.startsWith(`${folder}/`)).map((name) => name.slice(folder.length + 1)),
    writtenAt: async (name) => (objects.has(name) ? 0 : undefined),
    remove: async (name) => {
      objects.delete(name);
    },
  };
}
