// Makes the facts about the API a module, compiles the sources to dist, which the command line, its workers and the pipelines run from,
// bundles the page of tonlake ui and the library that draws charts, and compiles the WebAssembly.
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { buildWasm } from './build-wasm.mjs';
import { bundlePage } from './bundle-page.mjs';
import { bundleLibrary } from './bundle-library.mjs';
import { writeFacts } from './facts.mjs';

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
const compile = (project) => run(compiler, '-p', project);

/** Outputs that are rebuilt only if their inputs change. */
const CACHED = ['ui', 'wasm', 'empty-files'];

for (const name of readdirSync('.').includes('dist') ? readdirSync('dist') : []) {
  if (!CACHED.includes(name)) rmSync(join('dist', name), { recursive: true, force: true });
}
writeFacts();
compile('.');
await bundleLibrary('dist/src/reports/html/plot-library.js');
await buildWasm();
run('dist/tools/empty-files.js');
await bundlePage(() => compile('ui'));
chmodSync('dist/src/cli.js', 0o755);
writeFileSync('dist/built', '');
