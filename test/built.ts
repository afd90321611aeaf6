import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Before all tests. @throws when a source is newer than what it was compiled to, which is what tests run. */
export default function requireBuilt(): void {
  const built = statSync(join(root, 'dist/built'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newer = ['src', 'pipelines'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && statSync(join(root, folder, name)).mtimeMs > built)
      .map((name) => join(folder, name)),
  );
  if (newer.length > 0) throw new Error(`${newer[0]} is newer than dist: npm run build`);
}
