import PQueue from 'p-queue';
import { rethrowAccessError, shortMessage } from '../../core/errors.ts';
import type { Query } from '../../sql/query-result.ts';
import type { Backend } from '../backend.ts';
import type { BytesCheck, Trust } from '../damaged-store.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { filesOf } from '../ledger/pruned-entries.ts';
import { readFiles } from '../relations/table-relation.ts';
import type { TableEntry, TableFile } from '../store.ts';
import { isCommitted } from './entry-files.ts';

const order: readonly Trust[] = ['proven', 'suspect', 'unreadable'];

/**
 * Compares the files of a table in an entry with the entry. DuckDB reads several files with the types of the first one, so only proven files
 * may share a statement.
 */
export async function checkFiles(
  backend: Backend,
  { files }: TableEntry,
  query: Query,
  later: LaterLedger,
): Promise<BytesCheck> {
  const checks: FileCheck[] = [];
  for (const file of files) checks.push(await checkFile(backend, file, query, later));
  const trust = order[Math.max(0, ...checks.map((check) => order.indexOf(check.trust)))] ?? 'proven';
  return { trust, isShareable: trust === 'proven', faults: checks.flatMap((check) => check.faults) };
}

type FileCheck = Pick<BytesCheck, 'trust' | 'faults'>;

/** The ledger at a later time: other processes may have committed since the first read. */
export class LaterLedger {
  readonly #ledger: LedgerFolder;
  readonly #refreshes = new PQueue({ concurrency: 1 });
  #named: { readonly last: number; readonly files: ReadonlySet<string> } = { last: 0, files: new Set() };

  /** @param ledger not read yet */
  constructor(ledger: LedgerFolder) {
    this.#ledger = ledger;
  }

  /** True if an entry in force names the file. */
  async names(path: string): Promise<boolean> {
    // One refresh at a time. Unreadable entries were reported by the first read.
    await this.#refreshes.add(() => this.#ledger.refresh(() => {}));
    const { lastNumber: last, effective } = this.#ledger.entries;
    if (this.#named.last !== last) this.#named = { last, files: new Set(effective.flatMap(filesOf)) };
    return this.#named.files.has(path);
  }
}

async function checkFile(backend: Backend, file: TableFile, query: Query, later: LaterLedger): Promise<FileCheck> {
  const { path, bytes, sha256 } = file;
  const size = await backend.sizeOf(path);
  const about = { file: path } as const;
  if (size === undefined) {
    const isSound = isCommitted(file, await backend.sumOf(path));
    if (isSound && !(await later.names(path))) return { trust: 'proven', faults: [] };
    const fault = { kind: 'file-missing', ...about, expected: 'a file that the ledger names', got: 'none' } as const;
    // Reported even if a publication still has the file, because programs that read the folder of the table miss it.
    return { trust: isSound ? 'proven' : 'unreadable', faults: [fault] };
  }
  if (size === bytes && isCommitted(file, await backend.sumOf(path))) return { trust: 'proven', faults: [] };
  const [expected, got] =
    size === bytes ? [`bytes with SHA-256 ${sha256}`, 'others'] : [`${bytes} bytes`, String(size)];
  const read = await readRows(backend.pathOf(path), file, query);
  return { trust: read.trust, faults: [{ kind: 'file-changed', ...about, expected, got }, ...read.faults] };
}

/** Counts the rows of a file by reading every value. */
async function readRows(absolute: string, { path, rows }: TableFile, query: Query): Promise<FileCheck> {
  const about = { file: path } as const;
  try {
    const { rows: found } = await query(`SELECT count(*)::INTEGER, count(COLUMNS(*)) FROM ${readFiles([absolute])}`);
    const count = Number(found[0]?.[0]);
    if (count === rows) return { trust: 'suspect', faults: [] };
    return {
      trust: 'suspect',
      faults: [{ kind: 'rows-changed', ...about, expected: `${rows} rows`, got: String(count) }],
    };
  } catch (error) {
    rethrowAccessError(error);
    const expected = 'a readable Parquet file';
    return { trust: 'unreadable', faults: [{ kind: 'file-unreadable', ...about, expected, got: shortMessage(error) }] };
  }
}
