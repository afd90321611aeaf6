import { guarded } from '../../files/file-failure.ts';
import type { LedgerEntry, Store } from '../store.ts';
import type { LedgerFolder } from './ledger-folder.ts';

/** What stores of Parquet files have in common: a ledger says what is in force. */
export abstract class LedgerStore implements Pick<Store, 'kind' | 'path' | 'ledger' | 'forgotten' | 'log'> {
  readonly kind = 'parquet';
  readonly path: string;
  readonly #ledger: LedgerFolder;

  constructor(path: string, ledger: LedgerFolder) {
    this.path = path;
    this.#ledger = ledger;
  }

  ledger(): readonly LedgerEntry[] {
    return this.#ledger.entries.effective;
  }

  forgotten(): readonly LedgerEntry[] {
    return this.#ledger.entries.forgotten;
  }

  log(after: number, most?: number): Promise<readonly LedgerEntry[]> {
    return guarded(`warehouse ${this.path}`, () => this.#ledger.log(after, most));
  }
}
