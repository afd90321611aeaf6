// Packages that only a bench needs, installed once under the system's temporary folder.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @param names with versions: `parquet-wasm@0.8.0`. @returns the module of the first one; undefined, with a notice, if it is not available */
export async function loadPackages(...names) {
  const folder = join(tmpdir(), `tonlake-bench-${names.join('-').replace(/[^\w.]+/g, '-')}`);
  if (!existsSync(join(folder, 'ready'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const { status } = spawnSync('npm', ['install', '--silent', '--include=optional', ...names], {
      cwd: folder,
      stdio: 'ignore',
    });
    if (status !== 0) {
      process.stderr.write(`left out: ${names.join(', ')}, which cannot be installed\n`);
      return undefined;
    }
    writeFileSync(join(folder, 'ready'), '');
  }
  const [, name] = /^(.+)@/.exec(names[0]) ?? [];
  const require = createRequire(join(folder, 'package.json'));
  try {
    return await import(pathToFileURL(require.resolve(name)).href);
  } catch (error) {
    process.stderr.write(`left out: ${names[0]}: ${error.message.split('\n')[0]}\n`);
    return undefined;
  }
}
