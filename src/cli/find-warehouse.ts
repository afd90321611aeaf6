import { dirname, join } from 'node:path';
import { StoreError, TonlakeError } from '../core/errors.ts';
import { shellWord } from '../core/shell-word.ts';
import { defaultWarehouse } from '../http/network.ts';
import { type CommonOptions, namedNetwork, networkOf, warehouseOf } from './common-options.ts';
import { rememberPlace } from './invocation.ts';

/**
 * The named warehouse, or `data/<network>`. If that is missing and no network was named, the only warehouse in the same folder, with
 * a line that says so.
 *
 * @throws {StoreError} `no-warehouse` if there are several to choose from
 */
export async function findWarehouse(flags: CommonOptions, print: (line: string) => void): Promise<string> {
  if (flags.warehouse !== undefined) return flags.warehouse;
  const path = defaultWarehouse(networkOf(flags));
  const { statIfAny } = await import('../files/disk.ts');
  if ((await statIfAny(path)) !== undefined) return path;
  const [only, ...others] = await warehousesIn(dirname(path));
  // The command reports the missing warehouse itself.
  if (only === undefined) return path;
  if (others.length === 0 && namedNetwork(flags) === undefined) {
    print(`warehouse ${only}: the only one in ${dirname(path)}`);
    rememberPlace({ warehouse: only });
    return only;
  }
  throw new StoreError(`store: no warehouse at ${path}`, {
    code: 'no-warehouse',
    hint: `use one of these: ${[only, ...others].map((each) => `--warehouse ${shellWord(each)}`).join(', ')}`,
  });
}

/** The network that a command requests rows of, and the warehouse that it writes. */
export interface Place {
  readonly network: string;
  readonly warehouse: string;
  /** Says that the default network is used: neither a flag nor an existing warehouse selects one. To be printed first. */
  readonly note: string | undefined;
}

/** The network and the warehouse of a command that sends requests. Without --network, the network is that of an existing warehouse. */
export async function placeOf(flags: CommonOptions): Promise<Place> {
  const warehouse = warehouseOf(flags);
  if (flags.network !== undefined) return { network: flags.network, warehouse, note: undefined };
  const { storedNetwork } = await import('../warehouse/query/warehouse-registry.ts');
  const stored = flags.warehouse === undefined ? undefined : await storedNetwork(flags.warehouse);
  const network = stored ?? networkOf(flags);
  const isDefault = stored === undefined && namedNetwork(flags) === undefined;
  return {
    network,
    warehouse,
    note: isDefault ? `network ${network} (the default), warehouse ${warehouse}` : undefined,
  };
}

async function warehousesIn(folder: string): Promise<readonly string[]> {
  const { listFolder } = await import('../files/disk.ts');
  const paths = (await listFolder(folder)).filter((name) => !name.startsWith('.')).map((name) => join(folder, name));
  const found = await Promise.all(paths.sort().map(async (path) => ((await isWarehouse(path)) ? [path] : [])));
  return found.flat();
}

/** Also true for a warehouse that is busy or damaged. */
async function isWarehouse(path: string): Promise<boolean> {
  const [{ statIfAny }, { openReader }] = await Promise.all([
    import('../files/disk.ts'),
    import('../warehouse/index.ts'),
  ]);
  if ((await statIfAny(path))?.isDirectory() === true)
    return (await statIfAny(join(path, 'tonlake.json'))) !== undefined;
  try {
    const reader = await openReader(path, []);
    await reader.close();
    return true;
  } catch (error) {
    return (
      error instanceof TonlakeError && ['busy', 'bad-ledger', 'newer-tonlake', 'needs-migration'].includes(error.code)
    );
  }
}
