import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** Suites that take minutes: crash, soak. */
export default mergeConfig(
  base,
  defineConfig({ test: { exclude: [], testTimeout: 1_800_000, hookTimeout: 600_000, fileParallelism: false } }),
);
