import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Zip, ZipDeflate } from 'fflate';
import { StoreError } from '../core/errors.ts';
import { formatCount } from '../core/format.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { CellNotes } from './cell-notes.ts';
import { castOf, countedValue } from './column-class.ts';
import type { ExportedColumn, ExportedRows } from './exported-rows.ts';
import { cellXml, SPREADSHEET_TIMES, textXml } from './xlsx-cells.ts';

/** Rows of a sheet, with its head. */
const SHEET_ROWS = 1_048_576;
const SHEET_COLUMNS = 16_384;
/** Maximum uncompressed size of a part of the file: the ZIP directory has 32 bits for it. */
const PART_BYTES = 4_294_967_295;

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/**
 * Writes rows to an XLSX workbook. Rows that do not fit one sheet go on in further ones.
 *
 * @param name of the first sheet
 * @param sheetRows rows of a sheet with its head; smaller in tests
 * @returns the number of rows
 * @throws {StoreError} `too-large`
 */
export async function writeXlsx(
  { columns, read }: Pick<ExportedRows, 'columns' | 'read'>,
  path: string,
  {
    name,
    notes,
    sheetRows = SHEET_ROWS,
  }: { readonly name: string; readonly notes: CellNotes; readonly sheetRows?: number },
): Promise<number> {
  if (columns.length > SHEET_COLUMNS)
    throw tooLarge(`${formatCount(columns.length)} columns`, `${formatCount(SHEET_COLUMNS)} columns`);
  const expressions = columns.map((column) => `${plainValue(column)} AS ${quoteName(column.name)}`);
  let count = 0;
  await read(
    undefined,
    (rows) => {
      const parts = workbook(columns, rows.chunks(), { name: sheetName(name), notes, sheetRows }, (more) => {
        count += more;
      });
      return pipeline(parts, createWriteStream(path, { flags: 'wx' }));
    },
    expressions,
  );
  return count;
}

/** SQL for a value as `cellXml` takes it. */
function plainValue(column: ExportedColumn): string {
  const value = countedValue(column);
  const { class: kind } = column.classed;
  switch (kind) {
    case 'date':
    case 'timestamp': {
      const [plain, [first, end]] = [castOf(column), SPREADSHEET_TIMES[kind]];
      return `CASE WHEN ${plain} >= ${first} AND ${plain} < ${end} THEN (${value})::VARCHAR ELSE ${plain}::VARCHAR END`;
    }
    case 'boolean':
      return value;
    case 'bytes':
      return `to_base64(${value})`;
    default:
      return `${value}::VARCHAR`;
  }
}

interface SheetOptions {
  readonly name: string;
  readonly notes: CellNotes;
  readonly sheetRows: number;
}

/** The bytes of the workbook, as rows come. */
async function* workbook(
  columns: readonly ExportedColumn[],
  chunks: AsyncIterable<readonly (readonly unknown[])[]>,
  { name, notes, sheetRows }: SheetOptions,
  onRows: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipStream();
  const head = `<row>${columns.map((column) => textXml(column.name, column.name, notes)).join('')}</row>`;
  const start = `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>${head}`;
  let sheets = 0;
  let left = 0;
  const openSheet = (): void => {
    sheets += 1;
    left = sheetRows - 1;
    zip.open(`xl/worksheets/sheet${sheets}.xml`);
    zip.push(start);
  };
  openSheet();
  for await (const rows of chunks) {
    let lines: string[] = [];
    for (const row of rows) {
      if (left === 0) {
        zip.push(lines.join(''));
        lines = [];
        zip.push('</sheetData></worksheet>');
        zip.close();
        openSheet();
      }
      left -= 1;
      lines.push(`<row>${columns.map((column, at) => cellXml(column, row[at], notes)).join('')}</row>`);
    }
    zip.push(lines.join(''));
    onRows(rows.length);
    yield* zip.taken();
  }
  zip.push('</sheetData></worksheet>');
  zip.close();
  if (sheets > 1)
    notes.addMessage(`the rows fill ${sheets} sheets: one holds ${formatCount(sheetRows)} rows with its head`);
  for (const [path, content] of otherParts(name, sheets)) {
    zip.open(path);
    zip.push(content);
    zip.close();
  }
  zip.end();
  yield* zip.taken();
}

/** A ZIP file that is written part by part. */
class ZipStream {
  readonly #pieces: Uint8Array[] = [];
  readonly #zip: Zip;
  #part: ZipDeflate | undefined;
  #bytes = 0;

  constructor() {
    this.#zip = new Zip((error, piece) => {
      if (error !== null) throw error;
      this.#pieces.push(piece);
    });
  }

  open(path: string): void {
    this.#part = new ZipDeflate(path, { level: 3 });
    // The same rows give the same file.
    this.#part.mtime = '1980-01-01T00:00:00';
    this.#bytes = 0;
    this.#zip.add(this.#part);
  }

  push(text: string): void {
    const bytes = Buffer.from(text);
    this.#bytes += bytes.length;
    if (this.#bytes > PART_BYTES) throw tooLarge('a sheet of more than 4 GB', 'sheets of at most 4 GB');
    this.#part?.push(bytes);
  }

  close(): void {
    this.#part?.push(new Uint8Array(), true);
  }

  end(): void {
    this.#zip.end();
  }

  /** The bytes since the last call. */
  taken(): readonly Uint8Array[] {
    return this.#pieces.splice(0);
  }
}

/** The parts of a workbook beside its sheets. */
function otherParts(name: string, sheets: number): readonly (readonly [string, string])[] {
  const all = Array.from({ length: sheets }, (_, at) => at + 1);
  const list = all
    .map((at) => `<sheet name="${at === 1 ? name : `${name.slice(0, 24)} ${at}`}" sheetId="${at}" r:id="rId${at}"/>`)
    .join('');
  const links = all
    .map((at) => `<Relationship Id="rId${at}" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet${at}.xml"/>`)
    .join('');
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const overrides = all
    .map((at) => `<Override PartName="/xl/worksheets/sheet${at}.xml" ContentType="${type}.worksheet+xml"/>`)
    .join('');
  return [
    [
      '[Content_Types].xml',
      `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/>${overrides}</Types>`,
    ],
    [
      '_rels/.rels',
      `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    ['xl/workbook.xml', `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}"><sheets>${list}</sheets></workbook>`],
    [
      'xl/_rels/workbook.xml.rels',
      `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${links}<Relationship Id="rId${sheets + 1}" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`,
    ],
    [
      'xl/styles.xml',
      `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/></numFmts><fonts count="1"><font/></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
    ],
  ];
}

/** A valid name of a sheet: at most 31 characters, without those that references use. */
function sheetName(name: string): string {
  return name.replace(/[^\p{L}\p{N}_ -]/gu, '_').slice(0, 31) || 'rows';
}

function tooLarge(got: string, expected: string): StoreError {
  return new StoreError(`store: workbook: expected ${expected}, got ${got}`, {
    code: 'too-large',
    hint: 'select fewer rows or columns, or choose .parquet',
  });
}
