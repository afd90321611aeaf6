import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A file or folder of this package, which is two folders above this source, and three above its compiled file. */
export function packageFile(path: string): string {
  const above = import.meta.url.endsWith('.ts') ? '../../' : '../../../';
  return fileURLToPath(new URL(above + path, import.meta.url));
}

/** The version in package.json. */
export function readVersion(): string {
  const own: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return typeof own === 'object' && own !== null && 'version' in own ? String(own.version) : 'unknown';
}
