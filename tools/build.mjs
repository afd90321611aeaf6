// Compiles the sources to dist, which the command line, its workers and the pipelines run from.
import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [compiler, '-p', '.'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
chmodSync('dist/src/cli.js', 0o755);
writeFileSync('dist/built', '');
