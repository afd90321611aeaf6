import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** Suites that take minutes: crash, soak. `mergeConfig` would keep what the base leaves out. */
export default defineConfig({
  ...base,
  test: { ...base.test, exclude: [], testTimeout: 1_800_000, hookTimeout: 600_000, fileParallelism: false },
});
