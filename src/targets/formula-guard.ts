import { isIdentifier } from '../reports/identifiers.ts';
import type { RowStream } from '../sql/query-result.ts';
import type { CellNotes } from './cell-notes.ts';

/** Texts that spreadsheets calculate when they open a CSV file. */
const FORMULA = /^[=+\-@\t\r]/;
const REASON = 'text that begins like a formula got an apostrophe before it; --keep-formulas leaves it as it is';
/** Numbers begin with a sign, too. */
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** Rows for a CSV file: a text that a spreadsheet would calculate gets an apostrophe before it, which shows it as text. */
export function withoutFormulas({ columns, lots, countRest }: RowStream, notes: CellNotes): RowStream {
  const texts = columns.flatMap(({ type, name }, at) => (type === 'VARCHAR' ? [{ name, at }] : []));
  return {
    columns,
    countRest,
    async *lots() {
      for await (const rows of lots()) {
        yield rows.map((row) => {
          const wrong = texts.filter(({ at }) => isFormula(row[at]));
          if (wrong.length === 0) return row;
          const safe = [...row];
          for (const { name, at } of wrong) {
            safe[at] = `'${String(row[at])}`;
            notes.add(REASON, name);
          }
          return safe;
        });
      }
    },
  };
}

function isFormula(value: unknown): boolean {
  // Addresses and hashes can begin with a sign, and call nothing; other programs join by them.
  return typeof value === 'string' && FORMULA.test(value) && !NUMBER.test(value) && !isIdentifier(value);
}
