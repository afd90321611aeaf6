import { usage } from './errors.ts';
import { failedWith } from './failed-with.ts';

/**
 * What to throw when a package could not be loaded that only some commands need, and npm does not install by itself
 * (`peerDependencies` in package.json).
 *
 * @param error what the import threw
 * @param packages names as npm takes them, separated by spaces
 * @param use what they are for: `PostgreSQL`
 */
export function notInstalled(error: unknown, packages: string, use: string): unknown {
  if (!failedWith(error, 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND')) return error;
  return usage(`an installed client of ${use}`, 'none', `npm install ${packages}, with --global if tonlake is`, {
    cause: error,
  });
}
