// A virtual environment with the Python libraries of comparisons, created once in the system's temporary folder.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Versions are part of every claim, so they are pinned. */
const PACKAGES = [
  'polars==2.1.0',
  'pyarrow==26.0.1',
  'pandas==3.1.1',
  'httpx==0.28.1',
  'dlt[duckdb]==1.31.0',
  'duckdb==1.5.6',
];
const folder = join(tmpdir(), 'tonlake-bench-python');
const python = join(folder, 'bin/python');

/** The interpreter and the versions of the libraries; undefined, with a notice, without Python or the registry. */
export function openPython() {
  if (!existsSync(join(folder, 'ready'))) {
    const made =
      run('python3', ['-m', 'venv', '--clear', folder]) && run(python, ['-m', 'pip', 'install', '-q', ...PACKAGES]);
    if (!made || !run('touch', [join(folder, 'ready')])) {
      process.stderr.write('left out: the Python peers, which need python3 with venv and PyPI\n');
      return undefined;
    }
  }
  return { python, versions: PACKAGES.map((name) => name.replace('==', ' ').replace('[duckdb]', '')).join(', ') };
}

function run(command, args) {
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
