import type { CellNotes } from './cell-notes.ts';
import type { ExportedColumn } from './exported-rows.ts';

/** Maximum number of characters in a cell. */
const CELL_CHARACTERS = 32_767;
/** Spreadsheets keep the first 15 digits of a number. */
const DIGITS = 15;
/** Days from 1899-12-30, the zero of a spreadsheet's dates, to 1970-01-01. */
const EPOCH_DAY = 25_569;
const DAY_MICROS = 86_400_000_000n;

/** The range of dates and times that are numbers, as SQL: first, and end (exclusive). Spreadsheets disagree about dates before March 1900. */
export const SPREADSHEET_TIMES = {
  date: ["DATE '1900-03-01'", "DATE '10000-01-01'"],
  timestamp: ["TIMESTAMP '1970-01-01'", "TIMESTAMP '10000-01-01'"],
} as const;

/** Styles of cells, by their position in `styles.xml`. */
const DATE_STYLE = 1;
const TIME_STYLE = 2;

/**
 * A cell as XML, from a value of the SQL of `plainValue`: numbers as text, dates as days, times as microseconds, those out of range as
 * DuckDB's text, bytes as base64. Text is written as inline text, so it is never a formula. Numbers and dates that a spreadsheet cannot
 * hold become text.
 */
export function cellXml({ name, classed }: ExportedColumn, value: unknown, notes: CellNotes): string {
  if (value === null || value === undefined) return '<c/>';
  switch (classed.class) {
    case 'boolean':
      return `<c t="b"><v>${value === true ? 1 : 0}</v></c>`;
    case 'int32':
    case 'int64':
    case 'decimal':
      return numberXml(String(value), name, notes);
    case 'double':
      return doubleXml(String(value), name, notes);
    case 'date':
      return COUNTED.test(String(value))
        ? `<c s="${DATE_STYLE}"><v>${Number(value) + EPOCH_DAY}</v></c>`
        : absentXml(String(value), name, notes);
    case 'timestamp':
      return COUNTED.test(String(value))
        ? timeXml(BigInt(String(value)), name, notes)
        : absentXml(String(value), name, notes);
    default:
      return textXml(String(value), name, notes);
  }
}

/** Integers and decimals of at most 15 digits. */
function numberXml(text: string, name: string, notes: CellNotes): string {
  const digits = text.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '');
  if (digits.length <= DIGITS) return `<c><v>${text}</v></c>`;
  notes.add(`a number of more than ${DIGITS} digits, which a spreadsheet would round, is text`, name);
  return textXml(text, name, notes);
}

/** A spreadsheet computes with the same 64 bits, but has neither NaN nor infinity. */
function doubleXml(text: string, name: string, notes: CellNotes): string {
  if (Number.isFinite(Number(text))) return `<c><v>${text}</v></c>`;
  notes.add('a number that a spreadsheet does not have is text', name);
  return textXml(text, name, notes);
}

/** Days, or microseconds. */
const COUNTED = /^-?\d+$/;

/** A date or time outside of the range of spreadsheets, or infinite. */
function absentXml(text: string, name: string, notes: CellNotes): string {
  notes.add('a date or time that a spreadsheet does not have is text', name);
  return textXml(text, name, notes);
}

/** A date with a fraction of a day, exact to the millisecond. */
function timeXml(micros: bigint, name: string, notes: CellNotes): string {
  const days = Number(micros / DAY_MICROS) + EPOCH_DAY;
  if (micros % 1000n === 0n)
    return `<c s="${TIME_STYLE}"><v>${days + Number(micros % DAY_MICROS) / Number(DAY_MICROS)}</v></c>`;
  notes.add('a time with microseconds, which a spreadsheet would round, is text', name);
  const [date = '', time = ''] = new Date(Number(micros / 1000n)).toISOString().split(/[TZ]/);
  return textXml(`${date} ${time}${String(micros % 1000n).padStart(3, '0')}`, name, notes);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot hold them
const CONTROL = /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const UNWRITABLE = new RegExp(`${CONTROL.source}|${LONE_SURROGATE.source}`, 'g');

/** Inline text. Control characters, and what looks like an escape of one, are written as `_x0001_`. */
export function textXml(text: string, name: string, notes: CellNotes): string {
  let cut = text;
  if (text.length > CELL_CHARACTERS) {
    notes.add(`text of more than ${CELL_CHARACTERS} characters, which no cell can hold, is cut off`, name);
    cut = text.slice(0, CELL_CHARACTERS);
  }
  const escaped = cut
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(UNWRITABLE, (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
  return `<c t="inlineStr"><is><t xml:space="preserve">${escaped}</t></is></c>`;
}
