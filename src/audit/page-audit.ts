import { canonicalText, isFriendlyFormOf } from '../core/address.ts';
import { AuditError } from '../core/errors.ts';
import type { ColumnDef } from '../declare/column.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import { findTwins, keyOf, readableOf } from '../decode/row-keys.ts';
import { type AnyColumn, WordsColumn } from '../decode/typed-columns.ts';

/** Code of the error for a page with rows that were not requested, or not all that were. */
export const WRONG_ROWS = 'wrong-rows';

/** Code of the error for rows with one key. */
export const DOUBLE_KEY = 'double-key';

/** The rows that a request selects. Plain data, for a worker thread. */
export type RequestedRows = RowsWithin | RowsOfKeys;

/** Rows with a number in a range, both ends inclusive. */
export interface RowsWithin {
  readonly kind: 'within';
  readonly column: string;
  readonly from: bigint;
  readonly to: bigint;
}

/** Rows with one of several values. */
export interface RowsOfKeys {
  readonly kind: 'keys';
  /** One of these columns has the value, or lists it as JSON. */
  readonly columns: readonly string[];
  readonly values: readonly string[];
  /** True if rows with other values may come, too. Default false. */
  readonly hasOthers?: boolean | undefined;
}

/** A page of a list that is read page by page. */
export interface ListPage {
  /** The same for all pages of a list. */
  readonly list: string | number;
  /** False for the first page. */
  readonly isContinued: boolean;
  /** Set for a list whose distinct rows are counted, to detect a page that was sent in place of another. */
  readonly counted?: CountedPage | undefined;
}

/** A page of a list whose distinct rows are counted. */
export interface CountedPage {
  /** The list, or a list that includes it. */
  readonly list: string;
  /** Records of the list before the page. */
  readonly offset: number;
  /** Records of a full page. A shorter page ends the list, which is then forgotten unless it has duplicates. Default: it is retained. */
  readonly full?: number | undefined;
}

/** Results for a page that passes the audit. */
export interface PageFacts {
  /** Requested values without a row; if several columns can have a value, without one for each column. */
  readonly without: readonly string[];
  /** Distinct records of the counted list so far; undefined if not counted. */
  readonly distinct: number | undefined;
}

/** The rows of a page in a decoder; `to` is the first row after it. */
export interface AuditedPage {
  readonly from: number;
  readonly to: number;
  /** Records in the page, including those that could not be decoded. */
  readonly records: number;
}

/** Conditions that a page must fulfil. */
export interface PageConditions {
  readonly requested: readonly RequestedRows[];
  readonly page?: ListPage | undefined;
  /** True if no two rows of the page have one key. */
  readonly isUnique: boolean;
  /** The only masterchain block of the page. */
  readonly block?: number | undefined;
  /** Expected number of records, if a response has one for each part of the request. */
  readonly count?: number | undefined;
}

/** The columns of the decoded rows. */
interface Columns {
  column(name: string): AnyColumn;
}

/** The pages of a list so far. */
interface ListSoFar {
  readonly first: ReadonlySet<string>;
  last: ReadonlySet<string>;
  records: number;
}

/** Distinct records of a list, in all readings so far. */
interface CountedList {
  readonly keys: KeySet;
  /** Records of this reading that could not be decoded. */
  refused: number;
}

/** Checks that a page has the rows that were requested, and no others. */
export class PageAudit {
  private readonly name: string;
  /** The pipeline and block of the page, for messages. */
  private subject = '';
  private readonly key: readonly string[];
  private readonly defs: readonly ColumnDef[];
  private readonly columns: Columns;
  private readonly lists = new Map<string | number, ListSoFar>();
  private readonly counted = new Map<string, CountedList>();

  constructor({ name, tables: [main] }: PipelineDef, columns: Columns) {
    this.name = name;
    this.key = (main?.key ?? []).filter((column) => column !== '_read_at');
    this.defs = [...(main?.columns ?? []), ...(main?.unwritten ?? [])];
    this.columns = columns;
  }

  /** Forgets the lists of the span before. */
  clear(): void {
    this.lists.clear();
    this.counted.clear();
  }

  /**
   * Checks a page.
   *
   * @throws {AuditError} `wrong-rows` or `double-key`, retryable
   */
  check({ requested, page, count, isUnique, block }: PageConditions, rows: AuditedPage): PageFacts {
    this.subject = block === undefined ? this.name : `${this.name} ${block}`;
    if (count !== undefined && rows.records !== count) throw this.wrong(`${count} answers`, `${rows.records}`);
    this.checkForms(rows);
    const without = requested.flatMap((condition) =>
      condition.kind === 'within' ? this.checkWithin(condition, rows) : this.checkKeys(condition, rows),
    );
    if (isUnique) this.checkTwins(rows);
    return { without, distinct: page === undefined ? undefined : this.checkProgress(page, rows) };
  }

  private checkTwins({ from, to }: AuditedPage): void {
    const rows = Int32Array.from({ length: to - from }, (_, at) => from + at);
    const [twins] = findTwins(this.columns, this.key, rows);
    if (twins === undefined) return;
    throw new AuditError(`audit ${this.subject}: ${twins.reason}`, { code: DOUBLE_KEY, retryable: true });
  }

  private checkWithin({ column: name, from, to }: RowsWithin, rows: AuditedPage): readonly never[] {
    const column = this.columns.column(name);
    for (let row = rows.from; row < rows.to; row++) {
      const value = numberAt(column, row);
      if (value !== undefined && value >= from && value <= to) continue;
      const range = from === to ? `${from}` : `${from} to ${to}`;
      throw this.wrong(`rows with ${name} ${range}`, `one with ${readableOf(column, row)}`);
    }
    return [];
  }

  private checkKeys({ columns: names, values, hasOthers = false }: RowsOfKeys, rows: AuditedPage): readonly string[] {
    const byText = new Map(values.map((value) => [canonicalText(value), value]));
    const requested = [...byText.keys()];
    const known = new Set(requested);
    const columns = names.map((name) => ({
      column: this.columns.column(name),
      isList: this.isJson(name),
      seen: new Set<string>(),
    }));
    const textOf = keyOf(this.columns, this.key);
    const accepted = new Set<string>();
    /** Rows without the columns of the key: valid only as copies of a row that has them. */
    const bare: number[] = [];
    for (let row = rows.from; row < rows.to; row++) {
      const texts = columns.map(({ column, isList, seen }) => ({ text: readableOf(column, row), isList, seen }));
      let isFound = false;
      for (const { text, isList, seen } of texts) {
        const found = isList
          ? requested.filter((value) => listsValue(text, value))
          : known.has(text)
            ? [text]
            : matching(text, known);
        for (const value of found) seen.add(value);
        isFound ||= found.length > 0;
      }
      if (isFound) accepted.add(textOf(row));
      else if (texts.every(({ text, isList }) => isList && (text === 'null' || text === '[]'))) bare.push(row);
      else if (!hasOthers)
        throw this.wrong(
          expectedKeys(names, values),
          `one with ${texts.map(({ text }) => shortened(text)).join(', ')}`,
        );
    }
    const stray = hasOthers ? undefined : bare.find((row) => !accepted.has(textOf(row)));
    if (stray !== undefined) throw this.wrong(expectedKeys(names, values), 'one with none');
    return [...byText].flatMap(([text, value]) => (columns.every(({ seen }) => seen.has(text)) ? [] : [value]));
  }

  /**
   * Rejects a page that repeats all of the first page, or of the last one: the source ignores `offset`.
   *
   * @returns distinct records of the counted list
   */
  private checkProgress({ list, isContinued, counted }: ListPage, rows: AuditedPage): number | undefined {
    const textOf = keyOf(this.columns, this.key);
    const keys = new Set<string>();
    for (let row = rows.from; row < rows.to; row++) keys.add(textOf(row));
    this.checkRepeats(list, isContinued, keys, rows.records);
    if (counted === undefined) return undefined;
    const distinct = this.count(counted, keys, rows);
    if (rows.records >= (counted.full ?? 0)) return distinct;
    if (counted.list !== list) this.lists.delete(list);
    else if (distinct === counted.offset + rows.records) {
      this.lists.delete(list);
      this.counted.delete(list);
    }
    return distinct;
  }

  private checkRepeats(list: string | number, isContinued: boolean, keys: ReadonlySet<string>, records: number): void {
    const before = this.lists.get(list);
    if (!isContinued || before === undefined) {
      this.lists.set(list, { first: keys, last: keys, records });
      return;
    }
    const isRepeated = keys.size > 0 && [...keys].every((key) => before.first.has(key) || before.last.has(key));
    // Rows that were added to the list move a few others to the next page.
    if (isRepeated && records >= before.records)
      throw this.wrong('other rows than in the pages before', 'the same again');
    before.last = keys;
    before.records = records;
  }

  private count({ list, offset }: CountedPage, keys: ReadonlySet<string>, { from, to, records }: AuditedPage): number {
    const all = this.counted.get(list) ?? { keys: new KeySet(), refused: 0 };
    this.counted.set(list, all);
    for (const key of keys) all.keys.add(key);
    all.refused = (offset === 0 ? 0 : all.refused) + records - (to - from);
    return all.keys.size + all.refused;
  }

  /** Checks user-friendly addresses, which have a checksum, against the raw ones of the same row. */
  private checkForms({ from, to }: AuditedPage): void {
    for (const { name, encodes } of this.defs) {
      if (encodes === undefined) continue;
      const [friendly, raw] = [this.columns.column(name), this.columns.column(encodes)];
      for (let row = from; row < to; row++) {
        if (!friendly.isSet(row) || !raw.isSet(row)) continue;
        const [text, account] = [readableOf(friendly, row), readableOf(raw, row)];
        if (!isFriendlyFormOf(text, account)) throw this.wrong(`${name} as a form of ${account}`, shortened(text));
      }
    }
  }

  private isJson(name: string): boolean {
    return this.defs.find((def) => def.name === name)?.kind === 'json';
  }

  private wrong(expected: string, got: string): AuditError {
    const message = `audit ${this.subject}: expected ${expected}, got ${got}`;
    return new AuditError(message, { code: WRONG_ROWS, retryable: true });
  }
}

/** The error for a complete list whose pages had duplicates, or lacked some rows. */
export function lackingRows(subject: string, rows: number, distinct: number): AuditError {
  const got = distinct < rows ? `${distinct} and copies of them` : `${distinct}, of which it lacks some`;
  const message = `audit ${subject}: expected a list of ${rows} rows, got ${got}`;
  return new AuditError(message, { code: WRONG_ROWS, retryable: true });
}

/** The requested value in another form, if a text is one. */
function matching(text: string, known: ReadonlySet<string>): readonly string[] {
  const canonical = canonicalText(text);
  return known.has(canonical) ? [canonical] : [];
}

/** True if JSON has a value as one of its texts; addresses in either case. */
function listsValue(json: string, value: string): boolean {
  return json.includes(`"${value}"`) || (value.includes(':') && json.toUpperCase().includes(`"${value}"`));
}

function expectedKeys(names: readonly string[], values: readonly string[]): string {
  const more = values.length === 1 ? '' : `, or ${values.length - 1} others`;
  return `rows with ${names.join(' or ')} ${values[0]}${more}`;
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

/** The number in a column; undefined for null. */
export function numberAt(column: AnyColumn, row: number): bigint | undefined {
  if (!(column instanceof WordsColumn) || !column.isSet(row)) return undefined;
  return column.width === 1 ? BigInt((column.words[row] as number) | 0) : column.signed64(row);
}

const MIN_SLOTS = 16;

/** A set of texts by 64-bit hashes: about 16 bytes per text, and no limit of entries as in `Set`. */
export class KeySet {
  private slots = new Uint32Array(2 * MIN_SLOTS);
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(text: string): void {
    const slots = this.slots.length / 2;
    if (this.count * 4 > slots * 3) this.grow(slots * 2);
    let high = 0xdeadbeef;
    let low = 0x41c6ce57;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      high = Math.imul(high ^ unit, 2654435761);
      low = Math.imul(low ^ unit, 1597334677);
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    // Zero marks an empty slot.
    if (this.place(high >>> 0, low >>> 0 || 1)) this.count++;
  }

  /** @returns false if it is there already */
  private place(high: number, low: number): boolean {
    const { slots } = this;
    const last = slots.length / 2 - 1;
    for (let slot = high & last; ; slot = (slot + 1) & last) {
      if (slots[2 * slot + 1] === 0) {
        slots[2 * slot] = high;
        slots[2 * slot + 1] = low;
        return true;
      }
      if (slots[2 * slot] === high && slots[2 * slot + 1] === low) return false;
    }
  }

  private grow(slots: number): void {
    const { slots: old } = this;
    this.slots = new Uint32Array(2 * slots);
    for (let at = 0; at < old.length; at += 2) {
      if (old[at + 1] !== 0) this.place(old[at] as number, old[at + 1] as number);
    }
  }
}
