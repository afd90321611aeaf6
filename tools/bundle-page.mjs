// Bundles ui/ into dist/ui, if its inputs have changed.
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { isUpToDate, recordInputs } from './input-hash.mjs';

const OUT = 'dist/ui';
const INPUTS = `${OUT}/inputs.json`;

/** @param check called before a new bundle is made; checks the types of the page */
export async function bundlePage(check) {
  if (isUpToDate(INPUTS)) return;
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
  const other = ['src/ui/ui-types.ts', 'src/show/shown-thing.ts', 'ui/index.html', 'ui/icon.svg', 'ui/tsconfig.json', 'package-lock.json'];
  recordInputs(INPUTS, [...own, ...other, 'tools/bundle-page.mjs']);
}
