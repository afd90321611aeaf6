import type { Account } from '../chain/accounts.ts';
import type { MessageRow, TransactionRow } from '../chain/model.ts';
import type { Met } from '../page/addresses.ts';
import { type JsonRecord, jsonOf } from '../page/json.ts';
import type { PageWriter } from '../page/writer.ts';
import type { Params } from './params.ts';
import type { View } from './view.ts';

/** A record of a list: JSON text, a value, or a function that writes it. */
type Row = string | JsonRecord | ((page: PageWriter) => void);

/** A request and its response: a list of records and the addresses in them. */
export class Reply {
  readonly view: View;
  readonly params: Params;
  /** Decides the order of ties. */
  readonly shuffle: number;
  readonly #met: Met = new Map();

  constructor(view: View, params: Params, shuffle: number) {
    this.view = view;
    this.params = params;
    this.shuffle = shuffle;
  }

  /** Adds an account to the address book; returns its raw address. */
  readonly meet = (account: Account, epoch = 0): string => this.view.addresses.meet(this.#met, account, epoch);

  meetOrNull(account: Account | undefined): string | null {
    return account === undefined ? null : this.meet(account);
  }

  /** Adds all accounts of a transaction to the address book. */
  meetTransaction({ transaction, epoch }: TransactionRow): void {
    this.view.addresses.meetTransaction(this.#met, transaction, epoch);
  }

  meetMessage({ message, epoch }: MessageRow): void {
    this.view.addresses.meetMessage(this.#met, message, epoch);
  }

  /** The JSON of a transaction, whose accounts are added to the address book. */
  transactionText(row: TransactionRow): string {
    this.meetTransaction(row);
    return this.view.transactionText(row);
  }

  /** The complete response; `metadata` says whether the endpoint has that map. */
  list(key: string, rows: readonly Row[] | null, metadata: boolean): Buffer {
    const { page, addresses } = this.view;
    page.clear();
    page.text(rows === null ? `{"${key}":null` : `{"${key}":[`);
    rows?.forEach((row, index) => {
      if (index > 0) page.text(',');
      if (typeof row === 'function') row(page);
      else page.text(typeof row === 'string' ? row : jsonOf(row));
    });
    page.text(rows === null ? ',"address_book":' : '],"address_book":');
    addresses.writeBook(page, this.params.flag('x-no-address-book') ? new Map() : this.#met);
    if (metadata) {
      page.text(`,"metadata":${addresses.metadataText(this.params.flag('x-no-metadata') ? new Map() : this.#met)}`);
    }
    page.text('}');
    return Buffer.from(page.finish());
  }
}
