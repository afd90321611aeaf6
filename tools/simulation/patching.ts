// Hooks of Node's module loader: modules of the build are changed while they load.
import type { Patch } from './patches.ts';

let patches: readonly Patch[] = [];

export function initialize(given: readonly Patch[]): void {
  patches = given;
}

interface Loaded {
  readonly format: string;
  readonly source?: string | Uint8Array;
}

type Load = (url: string, context: unknown) => Promise<Loaded>;

export async function load(url: string, context: unknown, nextLoad: Load): Promise<Loaded> {
  const own = patches.filter(({ file }) => url.endsWith(`/dist/src/${file}.js`));
  const loaded = await nextLoad(url, context);
  if (own.length === 0) return loaded;
  let source = Buffer.from(loaded.source ?? '').toString();
  for (const { file, from, to } of own) {
    if (source.split(from).length !== 2) throw new Error(`expected once in ${file}.js: ${from}`);
    source = source.replace(from, () => to);
  }
  return { ...loaded, source };
}
