import { DuckDBInstance } from '@duckdb/node-api';
import { onTestFinished, vi } from 'vitest';

export interface Instances {
  /** Settings of each that was opened, in their order. */
  readonly opened: readonly Readonly<Record<string, string>>[];
  readonly open: ReadonlySet<DuckDBInstance>;
  /** Watches no longer. */
  readonly stop: () => void;
}

/** The instances of DuckDB that this process opens from now on until the test ends; one watch at a time. */
export function watchInstances(): Instances {
  const open = new Set<DuckDBInstance>();
  const opened: Readonly<Record<string, string>>[] = [];
  const { create } = DuckDBInstance;
  const { closeSync } = DuckDBInstance.prototype;
  const creating = vi.spyOn(DuckDBInstance, 'create').mockImplementation(async (path, settings = {}) => {
    const instance = await create.call(DuckDBInstance, path, settings);
    open.add(instance);
    opened.push(settings);
    return instance;
  });
  const closing = vi.spyOn(DuckDBInstance.prototype, 'closeSync').mockImplementation(function (this: DuckDBInstance) {
    open.delete(this);
    closeSync.call(this);
  });
  const stop = (): void => {
    creating.mockRestore();
    closing.mockRestore();
  };
  onTestFinished(stop);
  return { open, opened, stop };
}
