import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Tests import the sources, and run what they were compiled to: the files that are shipped, as worker threads and the command
 * line run them. Run `npm run build` first.
 */
function compiled(): Plugin {
  const sources = ['src', 'pipelines'].map((folder) => `${at(folder)}/`);
  return {
    name: 'compiled',
    enforce: 'pre',
    resolveId(id, importer) {
      if (importer === undefined || !id.startsWith('.')) return undefined;
      const path = fileURLToPath(new URL(id, `file://${importer}`));
      if (!path.endsWith('.ts') || !sources.some((source) => path.startsWith(source))) return undefined;
      return { id: at(`dist/${path.slice(at('.').length, -'.ts'.length)}.js`), external: true };
    },
  };
}

/** Files that take longest, which would leave all other processes idle if they came last. */
const LONG = ['spark/build-marts', 'browser/ui', 'e2e/bucket', 'verify/verify', 'e2e/lies', 'e2e/job-kill', 'e2e/kill'];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  plugins: [compiled()],
  resolve: {
    alias: [
      { find: /^tonlake\/pipeline$/, replacement: at('dist/src/declare/index.js') },
      { find: /^tonlake$/, replacement: at('dist/src/index.js') },
    ],
  },
  test: {
    globalSetup: ['test/built.ts', 'test/nothing-left.ts'],
    setupFiles: ['test/setup.ts'],
    include: ['test/**/*.test.ts'],
    exclude: ['test/crash/**', 'test/soak/**'],
    server: { deps: { external: [/\/dist\//] } },
    // Far above what any test takes, so that a slow machine does not fail one.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: 'forks',
    // The sandbox and the command line share a process, which has more to collect than either: 4 to 10 % of the CPU time.
    // Threads that collect beside it would take the cores of the other processes. Marking is as in the command line.
    execArgv: ['--min-semi-space-size=16', '--single-threaded-gc', '--no-incremental-marking'],
    // One more than the cores that are usual: some tests wait for a clock.
    maxWorkers: 3,
    // Few processes for all files: what is compiled and optimized for one serves the next.
    isolate: false,
    sequence: { sequencer: LongFirst },
  },
});
