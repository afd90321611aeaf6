import { readFileSync } from 'node:fs';

/** The version in package.json, which is three folders above the compiled file and two above the source. */
export function readVersion(): string {
  const folder = import.meta.url.endsWith('.ts') ? '../../' : '../../../';
  const own: unknown = JSON.parse(readFileSync(new URL(`${folder}package.json`, import.meta.url), 'utf8'));
  return typeof own === 'object' && own !== null && 'version' in own ? String(own.version) : 'unknown';
}
