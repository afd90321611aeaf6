import { StoreError } from '../core/errors.ts';
import { counted, formatBytes, formatCount } from '../core/format.ts';
import { shortSpans } from '../core/span.ts';
import { visible } from '../core/visible.ts';
import { spansOf } from '../warehouse/index.ts';
import type { EarlierEntry, Explanation, RowExplanation, RowFileFacts } from './explanation.ts';

/** Characters of a value before it is cut. */
const MAX_CHARACTERS = 100;

/**
 * An explanation as text for a terminal.
 *
 * @throws {StoreError}
 */
export function describeExplanation(explanation: Explanation, key: readonly string[]): string {
  const { table, rows, isCut, reasons } = explanation;
  if (rows.length === 0) {
    throw new StoreError(`store: ${table}: expected a row with the key ${visible(key.join(' '))}, got none`, {
      hint: reasons.length === 0 ? undefined : reasons.join('; '),
    });
  }
  const more = isCut ? `\nmore rows match: give more of the key to see others\n` : '';
  return `${rows.map((row) => describeRow(table, row)).join('\n')}${more}`;
}

function describeRow(table: string, row: RowExplanation): string {
  const { entry, values, block, past, file, proof, newerReading } = row;
  const { number, pipeline, requests, retries, committedAt } = entry;
  const blocks = entry.mart === undefined ? `, blocks ${shortSpans(spansOf(entry))}` : '';
  const readAt = values['_read_at'];
  const facts: readonly (readonly [string, string] | undefined)[] = [
    ['entry', `${number} of ${pipeline}${blocks}`],
    block === undefined ? undefined : ['block', `masterchain block ${block}`],
    ['read', readText(requests, retries, readAt)],
    [
      'committed',
      committedAt + (past.mergedFrom.length === 0 ? '' : `; merged by compact from ${earlierText(past.mergedFrom)}`),
    ],
    past.replaced.length === 0 ? undefined : ['replaces', earlierText(past.replaced)],
    newerReading === undefined
      ? undefined
      : ['superseded', `by the reading of ${newerReading.readAt}, in entry ${newerReading.entry}`],
    file === undefined ? undefined : ['file', fileText(file)],
    file === undefined ? undefined : ['bytes', checksumText(file)],
    ['proof', proof.statement],
    proof.evidence === undefined
      ? undefined
      : ['evidence', `${proof.evidence.holds ? '' : 'DOES NOT HOLD: '}${proof.evidence.text}`],
  ];
  const lines = facts.flatMap((fact) => (fact === undefined ? [] : [`  ${fact[0].padEnd(10)} ${visible(fact[1])}`]));
  return `${table}\n${valueLines(values)}\n${lines.join('\n')}\n`;
}

function valueLines(values: RowExplanation['values']): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length));
  return Object.entries(values)
    .map(([name, value]) => `  ${name.padEnd(width)}  ${short(value)}`)
    .join('\n');
}

function readText(requests: number, retries: number, readAt: string | null | undefined): string {
  const count = `${counted(requests, 'request')} for all rows of the entry`;
  const again = retries === 0 ? '' : `, ${formatCount(retries)} of them retries`;
  return `${typeof readAt === 'string' ? `${readAt}; ` : ''}${count}${again}`;
}

function earlierText(entries: readonly EarlierEntry[]): string {
  return entries.map(({ number, committedAt }) => `entry ${number} (${committedAt})`).join(', ');
}

function fileText({ path, rows, bytes, row, rowGroup, rowInGroup }: RowFileFacts): string {
  return `${path} (${formatBytes(bytes)}): row ${formatCount(row)} of ${formatCount(rows)}, in row group ${rowGroup} row ${formatCount(rowInGroup)}, counted from 0`;
}

function checksumText({ checksum }: RowFileFacts): string {
  switch (checksum) {
    case 'matches':
      return 'the file has the SHA-256 that the ledger recorded';
    case 'differs':
      return 'DAMAGED: the file does not have the SHA-256 that the ledger recorded; verify --repair reads its rows again';
  }
}

function short(value: string | null): string {
  if (value === null) return 'null';
  return visible(
    value.length <= MAX_CHARACTERS
      ? value
      : `${value.slice(0, MAX_CHARACTERS)}… (${formatCount(value.length)} characters)`,
  );
}
