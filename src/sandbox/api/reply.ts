import type { Account } from '../chain/accounts.ts';
import type { Met } from '../page/addresses.ts';
import type { Params } from './params.ts';
import type { View } from './view.ts';

/** An answer that lists records together with the addresses met in them. */
export class Reply {
  readonly #view: View;
  readonly #params: Params;
  readonly #met: Met = new Map();

  constructor(view: View, params: Params) {
    this.#view = view;
    this.#params = params;
  }

  /** Raw address of an account, which the address book then lists. */
  meet(account: Account, epoch = 0): string {
    return this.#view.addresses.meet(this.#met, account, epoch);
  }

  get met(): Met {
    return this.#met;
  }

  /** The whole answer; `metadata` where the endpoint sends that map too. */
  list(key: string, rows: readonly string[] | null, metadata: boolean): Buffer {
    const page = this.#view.borrow();
    page.text(rows === null ? `{"${key}":null,` : `{"${key}":[`);
    rows?.forEach((row, index) => {
      page.text(index === 0 ? row : `,${row}`);
    });
    if (rows !== null) page.text('],');
    this.#view.addresses.writeBook(
      page,
      this.#params.flag('X-No-Address-Book', 'x_no_address_book') ? new Map() : this.#met,
    );
    if (metadata) {
      page.text(',');
      this.#view.addresses.writeMetadata(
        page,
        this.#params.flag('X-No-Metadata', 'x_no_metadata') ? new Map() : this.#met,
      );
    }
    page.text('}');
    const bytes = Buffer.from(page.finish());
    this.#view.giveBack(page);
    return bytes;
  }
}
