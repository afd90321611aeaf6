// Bundles ui/ into dist/ui, unless that was made from the same inputs.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const OUT = 'dist/ui';
const NOTE = `${OUT}/inputs.json`;

/** @param check called before a new bundle is made: the types of the page */
export async function bundlePage(check) {
  const held = existsSync(NOTE) ? JSON.parse(readFileSync(NOTE, 'utf8')) : { files: [], hash: '' };
  if (held.files.every((path) => existsSync(path)) && held.hash === hashOf(held.files)) return;
  check();
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const { metafile } = await build({
    entryPoints: ['ui/main.tsx', 'ui/main.css'],
    outdir: OUT,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    metafile: true,
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'icon.svg']) copyFileSync(`ui/${name}`, `${OUT}/${name}`);
  const own = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules/'));
  const files = [...own, 'src/ui/ui-types.ts', 'ui/index.html', 'ui/icon.svg', 'ui/tsconfig.json', 'package-lock.json', 'tools/bundle-page.mjs'].sort();
  writeFileSync(NOTE, JSON.stringify({ files, hash: hashOf(files) }));
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const path of files) hash.update(`${path}\n`).update(readFileSync(path));
  return hash.digest('hex');
}
