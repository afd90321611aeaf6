import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { decodeAvro } from '../../src/iceberg/format/avro-container.ts';
import { type PublishOptions, publishWarehouse } from '../../src/iceberg/publish-warehouse.ts';
import type { SmallObjects } from '../../src/objects/object-store.ts';
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

/**
 * Reads a snapshot by its name, and requires that every file which it names exists.
 *
 * @param address of a warehouse whose objects lie in the folder `warehouse`
 */
export async function readSnapshot(
  warehouse: string,
  table: string,
  ref = 'main',
  address = warehouse,
): Promise<ReadSnapshot> {
  return readTable(warehouse, await metadataOf(warehouse, table), ref, address);
}

/** As `readSnapshot`, with the metadata of a table as a catalog has it. */
export async function readTable(
  warehouse: string,
  metadata: Readonly<Record<string, unknown>>,
  ref = 'main',
  address = warehouse,
): Promise<ReadSnapshot> {
  const pathOf = (uri: unknown): string => {
    expect(String(uri).slice(0, address.length)).toBe(address);
    return warehouse + String(uri).slice(address.length);
  };
  const id = at(metadata, 'refs', ref, 'snapshot-id');
  const snapshot = (at(metadata, 'snapshots') as object[]).find((one) => at(one, 'snapshot-id') === id);
  expect(snapshot, ref).toBeDefined();
  const files: string[] = [];
  let rows = 0;
  for (const manifest of decodeAvro(await readFile(pathOf(at(snapshot, 'manifest-list'))))) {
    const bytes = await readFile(pathOf(at(manifest, 'manifest_path')));
    expect(bytes.length).toBe(at(manifest, 'manifest_length'));
    for (const entry of decodeAvro(bytes)) {
      if (at(entry, 'status') === 2) continue;
      const path = pathOf(at(entry, 'data_file', 'file_path'));
      expect(existsSync(path), path).toBe(true);
      files.push(path.slice(warehouse.length + 1));
      rows += Number(at(entry, 'data_file', 'record_count'));
    }
  }
  expect(String(rows)).toBe(at(snapshot, 'summary', 'total-records'));
  expect(new Set(files).size).toBe(files.length);
  return { files: files.sort(), rows };
}

/** Objects in memory, with a clock of their own. */
export interface MemoryObjects extends SmallObjects {
  readonly held: Map<string, Buffer>;
  /** Milliseconds since 1970. */
  clock: number;
}

export function memoryObjects(url = '/w/iceberg/items'): MemoryObjects {
  const held = new Map<string, Buffer>();
  const putAt = new Map<string, number>();
  const set = (key: string, bytes: Uint8Array): void => {
    held.set(key, Buffer.from(bytes));
    putAt.set(key, objects.clock);
  };
  const objects: MemoryObjects = {
    ...{ held, url, clock: 0 },
    list: async (prefix) =>
      [...held]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { length }]) => ({ key, bytes: length, putAt: putAt.get(key) ?? 0 })),
    folders: async () => [],
    get: async (key) => held.get(key),
    put: async (key, bytes) => set(key, bytes),
    putOrGet: async (key, bytes) => {
      const there = held.get(key);
      if (there === undefined) set(key, bytes);
      return there === undefined || there.equals(bytes) ? undefined : there;
    },
    remove: async (keys) => {
      for (const key of keys) held.delete(key);
    },
  };
  return objects;
}
