// Compiles the AssemblyScript files of wasm/ to dist/wasm, if their inputs have changed.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isUpToDate, recordInputs } from './input-hash.mjs';

const OUT = 'dist/wasm';
/** The numbers that the sources and the modules have in common. */
const NUMBERING = 'wasm/generated';
const INPUTS = `${OUT}/inputs.json`;
const OPTIONS = ['-O3', '--enable', 'simd', '--runtime', 'minimal', '--noAssert', '--use', 'abort='];

export async function buildWasm() {
  const { numberingModule } = await import('../dist/tools/wasm-numbering.js');
  mkdirSync(NUMBERING, { recursive: true });
  writeFileSync(join(NUMBERING, 'numbering.ts'), numberingModule());
  if (isUpToDate(INPUTS)) return;
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const { main } = await import('assemblyscript/asc');
  const sources = readdirSync('wasm', { recursive: true }).filter((name) => name.endsWith('.ts'));
  // Files in folders are parts of the modules next to them.
  for (const name of sources.filter((path) => dirname(path) === '.')) {
    const outFile = join(OUT, name.replace(/\.ts$/, '.wasm'));
    const { error, stderr } = await main([join('wasm', name), ...OPTIONS, '--outFile', outFile]);
    if (error !== null) throw new Error(`${name}: ${stderr.toString()}`, { cause: error });
  }
  recordInputs(INPUTS, [...sources.map((name) => join('wasm', name)), 'package-lock.json', 'tools/build-wasm.mjs']);
}
