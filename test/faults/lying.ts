import type { SandboxAnswer, SandboxRequest } from '../../src/sandbox/index.ts';
import type { BrokenRecord, Faults } from './faults.ts';
import { type Header, lieAboutHeaders, type ShownHeader } from './header-lies.ts';
import type { Lie, LieKind } from './lie-kinds.ts';
import { type Ask, joined, type ListText, listIn, pageOf, recordsUpTo, textOf, transactionsIn } from './lists.ts';
import { byLtAndAccount, lieAboutTransactions, type ShownTransaction, shownTransaction } from './transaction-lies.ts';

/** Tells lasting lies about masterchain blocks: every list that shows a record shows it in the same way. */
export class Lying {
  readonly #faults: () => Faults;
  readonly #ask: Ask;
  #known: readonly Lie[] = [];
  /** By masterchain block, as shown. */
  #headers = new Map<number, readonly ShownHeader[]>();
  #transactions = new Map<number, readonly ShownTransaction[]>();
  /** By masterchain block, as it is. */
  #truth = new Map<number, readonly ShownTransaction[]>();

  constructor(faults: () => Faults, ask: Ask) {
    this.#faults = faults;
    this.#ask = ask;
  }

  #isTold(seqno: number, ...kinds: readonly LieKind[]): boolean {
    return this.#known.some((lie) => lie.seqno === seqno && kinds.includes(lie.kind));
  }

  /** The answer as lies and invalid records change it. */
  answer(request: SandboxRequest, honest: SandboxAnswer): SandboxAnswer {
    const { lies, broken } = this.#faults();
    if (lies !== this.#known) this.#tell(lies);
    const told = lies.length === 0 || honest.status !== 200 ? honest : this.#told(request, honest);
    return broken.length === 0 || told.status !== 200 ? told : this.#withBroken(request, told, broken);
  }

  #tell(lies: readonly Lie[]): void {
    this.#known = lies;
    this.#headers = new Map();
    this.#transactions = new Map();
    this.#truth = new Map();
    for (const { seqno, kind } of lies) {
      const headers = this.#headers.get(seqno) ?? this.#trueHeaders(seqno);
      const shown = lieAboutHeaders(kind, headers);
      if (shown !== headers) this.#headers.set(seqno, shown);
      this.#tellTransactions(seqno, kind);
    }
  }

  #trueHeaders(seqno: number): readonly ShownHeader[] {
    const list = listIn(textOf(this.#ask(`/blocks?mc_seqno=${seqno}&limit=1000`)))?.records ?? [];
    // The list is in no order, but a lie must be the same each time.
    return list.map(shownHeader).sort((a, b) => (placeOf(a.header) < placeOf(b.header) ? -1 : 1));
  }

  #trueTransactions(seqno: number): readonly ShownTransaction[] {
    const known = this.#truth.get(seqno) ?? transactionsIn(this.#ask, seqno).map(shownTransaction);
    this.#truth.set(seqno, known);
    return known;
  }

  #tellTransactions(seqno: number, kind: LieKind): void {
    const rows = this.#transactions.get(seqno) ?? this.#trueTransactions(seqno);
    const told = lieAboutTransactions(kind, {
      seqno,
      rows,
      next: this.#transactions.get(seqno + 1) ?? this.#trueTransactions(seqno + 1),
      ltsOf: ({ block: { workchain, shard, seqno } }) => {
        const [text = ''] =
          listIn(textOf(this.#ask(`/blocks?workchain=${workchain}&shard=${shard}&seqno=${seqno}`)))?.records ?? [];
        const { header } = shownHeader(text);
        return [Number(header.start_lt), Number(header.end_lt)];
      },
      isReceived: (hash) =>
        textOf(this.#ask(`/messages?msg_hash=${encodeURIComponent(hash)}`)).includes('"in_msg_tx_hash"'),
    });
    if (told.rows !== rows) this.#transactions.set(seqno, told.rows);
    if (told.next !== undefined) this.#transactions.set(seqno + 1, told.next);
  }

  #told(request: SandboxRequest, honest: SandboxAnswer): SandboxAnswer {
    const { path, query } = request;
    const isByBlock = path === '/transactionsByMasterchainBlock';
    const seqno = Number(query.get(isByBlock ? 'seqno' : 'mc_seqno') ?? -1);
    switch (path) {
      case '/transactions':
      case '/transactionsByMasterchainBlock':
        if (this.#isTold(seqno, 'hole-forever')) return notFound(seqno);
        return this.#toldTransactions(request, honest);
      case '/traces':
      case '/actions':
        return this.#isTold(seqno, 'hole-forever') ? notFound(seqno) : honest;
      case '/blocks':
      case '/masterchainBlockShards':
        return this.#toldHeaders(request, honest);
      case '/masterchainBlockShardState':
        return this.#toldState(Number(query.get('seqno')), honest);
      default:
        return honest;
    }
  }

  #toldTransactions(request: SandboxRequest, honest: SandboxAnswer): SandboxAnswer {
    const list = listIn(textOf(honest));
    if (list === undefined) return honest;
    const isMeant = transactionFilter(request);
    const told = [...this.#transactions.values()].flat().filter(isMeant);
    const isTouched =
      told.length > 0 ||
      [...this.#transactions.keys()].some((seqno) => this.#trueTransactions(seqno).some((row) => isMeant(row)));
    const isCut = this.#known.some(({ kind }) => kind === 'transactions-empty' || kind === 'transactions-half');
    if (!isTouched && !isCut) return honest;
    let records = list.records.map(shownTransaction);
    if (isTouched) {
      const whole = recordsUpTo(request, this.#ask).map(shownTransaction);
      const kept = whole.filter(({ seqno }) => !this.#transactions.has(seqno));
      const { from, to } = pageOf(request);
      records = [...kept, ...told].sort(transactionOrder(request)).slice(from, to);
    }
    const shown = this.#cut(records, ({ seqno }) => seqno, 'transactions-empty', 'transactions-half');
    return withRecords(
      honest,
      list,
      shown.map((row) => row.text()),
    );
  }

  #toldHeaders(request: SandboxRequest, honest: SandboxAnswer): SandboxAnswer {
    const list = listIn(textOf(honest));
    if (list === undefined) return honest;
    const isMeant = headerFilter(request);
    const shown = [...this.#headers].flatMap(([seqno, headers]) => headers.map((row) => ({ ...row, seqno })));
    const told = shown.filter(isMeant);
    const isTouched = told.length > 0 || list.records.some((text) => this.#headers.has(shownHeader(text).seqno));
    let rows: readonly ShownHeader[] = list.records.map(shownHeader);
    if (isTouched) {
      const kept = recordsUpTo(request, this.#ask)
        .map(shownHeader)
        .filter(({ seqno }) => !this.#headers.has(seqno));
      const { from, to } = pageOf(request);
      rows = [...kept, ...told].sort(headerOrder(request)).slice(from, to);
    }
    const page = this.#cut(rows, ({ header }) => header.masterchain_block_ref.seqno, 'blocks-empty', 'blocks-half');
    if (page.length === 0 && request.path === '/masterchainBlockShards') {
      return { status: 404, body: '{"error":"blocks not found"}' };
    }
    return withRecords(
      honest,
      list,
      page.map(({ header }) => JSON.stringify(header)),
    );
  }

  #cut<T>(rows: readonly T[], seqnoOf: (row: T) => number, empty: LieKind, half: LieKind): readonly T[] {
    if (rows.some((row) => this.#isTold(seqnoOf(row), empty))) return [];
    return rows.some((row) => this.#isTold(seqnoOf(row), half)) ? rows.slice(0, Math.floor(rows.length / 2)) : rows;
  }

  #toldState(seqno: number, honest: SandboxAnswer): SandboxAnswer {
    if (this.#isTold(seqno, 'state-never')) return { status: 404, body: '{"error":"blocks not found"}' };
    const list = listIn(textOf(honest));
    if (list === undefined) return honest;
    let rows = list.records.map(shownHeader).flatMap((row) => {
      const told = this.#headers.get(row.seqno);
      return told === undefined ? [row] : told.filter(({ original }) => original === row.original).slice(0, 1);
    });
    if (this.#isTold(seqno, 'state-shard-missing')) rows = rows.slice(0, -1);
    if (this.#isTold(seqno, 'state-older')) {
      const at = rows.findIndex(({ header }) => header.workchain === 0 && this.#before(header) !== undefined);
      rows = rows.map((row, index) => (index === at ? (this.#before(row.header) ?? row) : row));
    }
    return withRecords(
      honest,
      list,
      rows.map(({ header }) => JSON.stringify(header)),
    );
  }

  /** The previous block of the same shard. */
  #before({ shard, prev_blocks: [prev] }: Header): ShownHeader | undefined {
    if (prev === undefined || prev.shard !== shard) return undefined;
    const [text] = listIn(textOf(this.#ask(`/blocks?workchain=0&shard=${shard}&seqno=${prev.seqno}`)))?.records ?? [];
    return text === undefined ? undefined : shownHeader(text);
  }

  #withBroken({ path }: SandboxRequest, answer: SandboxAnswer, broken: readonly BrokenRecord[]): SandboxAnswer {
    const isOfHeaders = path === '/blocks' || path.startsWith('/masterchainBlockShard');
    const list = isOfHeaders || path.startsWith('/transactions') ? listIn(textOf(answer)) : undefined;
    if (list === undefined) return answer;
    const records = [...list.records];
    for (const { seqno, index, kind } of broken) {
      if (isOfHeaders !== (kind === 'root_hash')) continue;
      const hash = isOfHeaders
        ? `"root_hash":"${this.#trueHeaders(seqno)[index]?.original}"`
        : `,"hash":"${this.#trueTransactions(seqno)[index]?.original}","lt":`;
      const at = records.findIndex((record) => record.includes(hash));
      if (at >= 0) records[at] = breakText(records[at] ?? '', kind);
    }
    return withRecords(answer, list, records);
  }
}

function notFound(seqno: number): SandboxAnswer {
  return { status: 404, body: `{"error":"masterchain block ${seqno} not found"}` };
}

function withRecords(answer: SandboxAnswer, list: ListText, records: readonly string[]): SandboxAnswer {
  return { ...answer, body: joined({ ...list, records }) };
}

function shownHeader(text: string): ShownHeader & { readonly seqno: number } {
  const header: Header = JSON.parse(text);
  return { original: header.root_hash, header, seqno: header.masterchain_block_ref.seqno };
}

/** The text of a record with one field wrong, so that no decoder can take it. */
function breakText(text: string, kind: BrokenRecord['kind']): string {
  switch (kind) {
    case 'lt':
      return text.replace(/"lt":"\d+"/, '"lt":"12x"');
    case 'now':
      return text.replace(/"now":(\d+)/, '"now":"$1"');
    case 'overflow':
      return text.replace(/"total_fees":"\d+"/, '"total_fees":"9223372036854775808"');
    case 'root_hash':
      return text.replace(/"root_hash":"[^"]+"/, '"root_hash":"12x"');
  }
}

/** Whether a parameter is absent, or one of its values is that of a record. */
function isGiven(query: URLSearchParams, name: string, value: string | number | undefined): boolean {
  return !query.has(name) || query.getAll(name).includes(String(value));
}

function isWithin(query: URLSearchParams, lt: number, utime: number): boolean {
  const [from, to] = [Number(query.get('start_lt') ?? 0), Number(query.get('end_lt') ?? Number.POSITIVE_INFINITY)];
  const since = Number(query.get('start_utime') ?? 0);
  const until = Number(query.get('end_utime') ?? Number.POSITIVE_INFINITY);
  return lt >= from && lt <= to && utime >= since && utime <= until;
}

function transactionFilter({ path, query }: SandboxRequest): (row: ShownTransaction) => boolean {
  if (path !== '/transactions') return ({ seqno }) => seqno === Number(query.get('seqno'));
  return ({ original, seqno, account, lt, now, block }) =>
    isGiven(query, 'mc_seqno', seqno) &&
    isGiven(query, 'hash', original) &&
    isGiven(query, 'account', account) &&
    isGiven(query, 'lt', lt) &&
    isGiven(query, 'workchain', block.workchain) &&
    isGiven(query, 'shard', block.shard) &&
    isGiven(query, 'seqno', block.seqno) &&
    isWithin(query, lt, now);
}

function transactionOrder({ query }: SandboxRequest): (a: ShownTransaction, b: ShownTransaction) => number {
  if (query.get('sort') === 'asc') return byLtAndAccount;
  return (a, b) => b.lt - a.lt || byLtAndAccount({ ...a, lt: 0 }, { ...b, lt: 0 });
}

function headerFilter({ path, query }: SandboxRequest) {
  return ({ original, header, seqno }: ShownHeader & { readonly seqno: number }): boolean =>
    path === '/masterchainBlockShards'
      ? seqno === Number(query.get('seqno'))
      : isGiven(query, 'mc_seqno', seqno) &&
        isGiven(query, 'root_hash', original) &&
        isGiven(query, 'workchain', header.workchain) &&
        isGiven(query, 'shard', header.shard) &&
        isGiven(query, 'seqno', header.seqno) &&
        isWithin(query, Number(header.start_lt), Number(header.gen_utime));
}

function placeOf({ workchain, shard, seqno }: Pick<Header, 'workchain' | 'shard' | 'seqno'>): string {
  return `${workchain}:${shard}:${seqno}`;
}

function headerOrder({ query }: SandboxRequest): (a: ShownHeader, b: ShownHeader) => number {
  const sort = query.get('sort');
  const step = sort === 'asc' ? 1 : sort === 'desc' ? -1 : 0;
  return (a, b) => step * (Number(a.header.gen_utime) - Number(b.header.gen_utime));
}
