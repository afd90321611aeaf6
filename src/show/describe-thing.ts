import { StoreError } from '../core/errors.ts';
import { alignColumns, formatCount } from '../core/format.ts';
import { suggest } from '../core/suggest.ts';
import { visible } from '../core/visible.ts';
import type { ShownThing, ThingFacts, ThingSection, TraceNode } from './shown-thing.ts';

/** Characters of a value before it is cut; hashes and addresses fit. */
const MAX_CHARACTERS = 68;
/** Rows of a section, and transactions of a trace, that text shows; JSON and the page have more. */
const MAX_LINES = 40;

const NAMES = { address: 'account', hash: 'hash', block: 'block' } as const;

/** A thing as text for a terminal. @throws {StoreError} if the warehouse knows nothing of it */
export function describeThing(thing: ShownThing): string {
  const { kind, value, places } = thing;
  if (thing.sections.length === 0 && places.length === 0) {
    throw new StoreError(`store: expected the ${NAMES[kind]} ${value}, the warehouse has nothing of it`, {
      hint: `${suggest('status')} shows which blocks it has; --live asks the source`,
    });
  }
  return describeFacts(thing) + describePlaces(places);
}

/** The last part of that text. */
export function describePlaces(places: ShownThing['places']): string {
  const found = places.map(({ table, column, count }) => `${table}.${column} ${formatCount(count)}`).join(', ');
  return places.length === 0 ? '' : `\nrows: ${found}\n`;
}

/** That text without its last part. */
export function describeFacts({ kind, value, friendly, sections, trace }: ThingFacts): string {
  const head = `${NAMES[kind]} ${value}${friendly === null ? '' : `\n        ${friendly}`}`;
  const tree = trace.length === 0 ? [] : [`trace\n${describeTree(trace, value)}`];
  return `${[head, ...sections.map(describeSection), ...tree].join('\n\n')}\n`;
}

function describeSection({ title, columns, rows }: ThingSection): string {
  const [only, ...others] = rows;
  const cells = rows.slice(0, MAX_LINES).map((row) => row.map((cell) => short(cell ?? '')));
  const lines =
    only !== undefined && others.length === 0
      ? alignColumns(columns.flatMap((column, at) => (only[at] == null ? [] : [[column, short(only[at])]])))
      : alignColumns([columns, ...cells]);
  return `${title}\n${firstOf(
    lines.map((line) => `  ${line.trimEnd()}`),
    rows.length - cells.length,
  )}`;
}

/** The first lines of a tree, and that of the thing itself. */
function describeTree(trace: readonly TraceNode[], value: string): string {
  const lines = treeLines(trace, value, '');
  const shown = lines.filter((line, at) => at < MAX_LINES || line.endsWith(REQUESTED));
  return firstOf(shown, lines.length - shown.length);
}

function firstOf(lines: readonly string[], left: number): string {
  return [...lines, ...(left === 0 ? [] : [`  and ${formatCount(left)} more; see --json`])].join('\n');
}

function treeLines(nodes: readonly TraceNode[], own: string, indent: string): readonly string[] {
  return nodes.flatMap((node, at) => {
    const isLast = at === nodes.length - 1;
    const below = treeLines(node.children, own, `${indent}${isLast ? '   ' : '│  '}`);
    return [`  ${indent}${isLast ? '└─' : '├─'} ${describeNode(node, node.hash === own)}`, ...below];
  });
}

/** Marks the requested transaction. */
const REQUESTED = '<-';

function describeNode({ hash, account, ton, opcode, fees, exit, isAborted }: TraceNode, isOwn: boolean): string {
  const parts = [
    `${hash.slice(0, 8)}…`,
    account.replace(/(?<=:.{4}).*(?=.{4}$)/, '…'),
    ...(opcode === null ? [] : [opcode]),
    ...(ton === null ? [] : [`${ton} TON`]),
    `fees ${fees}`,
    ...(exit === null ? [] : [`exit code ${exit}`]),
    ...(isAborted ? ['aborted'] : []),
    ...(isOwn ? [REQUESTED] : []),
  ];
  return visible(parts.join('  '));
}

function short(value: string): string {
  return visible(value.length <= MAX_CHARACTERS ? value : `${value.slice(0, MAX_CHARACTERS - 1)}…`);
}
