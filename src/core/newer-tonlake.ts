import { StoreError } from './errors.ts';
import { readVersion } from './own-package.ts';

/** The version of this process, which its ledger entries name. */
export const OWN_VERSION = readVersion();

/** The error for data of a newer version, which this one neither changes nor repairs. @param version undefined if unknown */
export function newerTonlake(
  subject: string,
  version: string | undefined,
  problem: string,
  cause?: unknown,
): StoreError {
  const by = version === undefined ? '' : ` (${version})`;
  return new StoreError(`store: ${subject} was made by a newer tonlake${by}: ${problem}`, {
    code: 'newer-tonlake',
    cause,
    hint: 'upgrade: npm install tonlake@latest, or git pull in a checkout',
  });
}

export function isNewer(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'newer-tonlake';
}

/** The newest of some versions, if it is after this one. */
export function laterThanOwn(versions: readonly (string | undefined)[]): string | undefined {
  const compare = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
  return versions
    .filter((version) => version !== undefined)
    .sort(compare)
    .filter((version) => compare(version, OWN_VERSION) > 0)
    .at(-1);
}
