import { StoreError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { coversBlocks } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { quoteText } from '../sql/canonical-text.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { textOf } from '../sql/row-text.ts';
import { type LedgerEntry, type Reader, spansOf } from '../warehouse/index.ts';
import { coverage, type Held } from '../warehouse/query/coverage.ts';
import { requireSameNetwork } from '../warehouse/query/status.ts';
import { explainRowIn } from './explain-row.ts';
import type { ExplainedThing } from './explanation.ts';
import { findValue } from './find-value.ts';
import { loadSections } from './sections.ts';
import type { ShownThing, Thing, ThingSection } from './shown-thing.ts';
import { parseThing, requireThing } from './thing.ts';
import { keyOf } from './thing-key.ts';
import { readTraceTree } from './trace-tree.ts';

type Read = (sql: string) => Promise<QueryResult>;

/** What a warehouse knows of a thing; no section and no place if nothing. */
export async function showThing(read: Read, held: Held<Registry>, thing: Thing): Promise<ShownThing> {
  const { registry, ledger } = held;
  const filled = new Set(ledger.flatMap(({ tables }) => Object.keys(tables)));
  const literal = thing.kind === 'block' ? thing.value : quoteText(thing.value);
  const sections: ThingSection[] = [];
  for (const { title, needs, sql } of await loadSections(thing.kind)) {
    if (!needs.every((table) => filled.has(table))) continue;
    const { columns, rows } = await read(sql.replaceAll('$thing', () => literal));
    if (rows.length === 0) continue;
    sections.push({
      title,
      columns: columns.map(({ name }) => name),
      rows: rows.map((row) => row.map((value) => textOf(value) ?? null)),
    });
  }
  if (thing.kind === 'block') sections.push(...commitsOf(held, Number(thing.value)));
  return {
    ...thing,
    friendly: thing.kind === 'address' ? await friendlyForm(read, thing.value) : null,
    sections,
    trace: thing.kind === 'hash' ? await readTraceTree(read, registry, thing.value) : [],
    places: await findValue(read, registry, ledger, thing),
  };
}

/**
 * What an open warehouse knows of the thing that a word names.
 *
 * @throws as {@link thingOf}; {UsageError} `other-network`
 */
export async function showIn(
  reader: Reader,
  registry: Registry,
  word: string,
  { network, why }: { readonly network?: string | undefined; readonly why?: boolean | undefined },
): Promise<ExplainedThing> {
  requireSameNetwork(reader.path, reader.network, network);
  const ledger = await reader.ledger();
  const held = { registry, ledger, removals: await reader.forgotten() };
  const shown = await showThing(reader.query, held, await thingOf(reader.query, ledger, word));
  const of = why === true ? keyOf(registry, shown) : undefined;
  return of === undefined ? shown : { ...shown, why: await explainRowIn(reader, registry, of.table, of.key) };
}

/** What is there of a block in each pipeline of the warehouse, and the commits that have it. */
function commitsOf(held: Held<Registry>, seqno: number): readonly ThingSection[] {
  const { registry, ledger, removals } = held;
  const isOf = (entry: LedgerEntry): boolean => spansOf(entry).some(({ from, to }) => from <= seqno && seqno <= to);
  const names = [...new Set([...ledger, ...removals].map(({ pipeline }) => pipeline))];
  const walked = names
    .flatMap((name) => registry.pipelines.find((pipeline) => pipeline.name === name) ?? [])
    .filter(coversBlocks);
  if (walked.every(({ name }) => !ledger.some((entry) => entry.pipeline === name && isOf(entry)))) return [];
  const rows = walked.flatMap((pipeline) => {
    const { unproven, missing } = coverage(held, pipeline, [{ from: seqno, to: seqno }]);
    const [state = 'proven'] = [
      ...missing.map(({ why }) => `missing (${why})`),
      ...unproven.map(({ why }) => `unproven (${why})`),
    ];
    const own = ledger.filter((entry) => entry.pipeline === pipeline.name && isOf(entry));
    return own.length === 0
      ? [[pipeline.name, state, null, null]]
      : own.map(({ number, committedAt }) => [pipeline.name, state, String(number), committedAt]);
  });
  return [{ title: 'commits', columns: ['pipeline', 'state', 'entry', 'committed'], rows }];
}

/**
 * The thing that a word names: an address, a hash, a seqno, or `@name`, a domain that the warehouse has.
 *
 * @throws {UsageError} `bad-request`; {StoreError} `no-row` for a name that no domain has
 */
export async function thingOf(read: Read, ledger: readonly LedgerEntry[], word: string): Promise<Thing> {
  if (!word.startsWith('@')) return requireThing(word);
  const held = new Set(ledger.flatMap(({ tables }) => Object.keys(tables)));
  const name = word.slice(1).toLowerCase();
  for (const { needs, sql } of await loadSections('name')) {
    const lacking = needs.find((table) => !held.has(table));
    if (lacking !== undefined) {
      throw usage(`a warehouse with ${lacking} to find ${word}`, 'one without', {
        ...{ code: 'bad-request', hint: `${suggest('run', lacking, { range: '-1000:' })} exports them` },
      });
    }
    const { rows } = await read(sql.replaceAll('$thing', () => quoteText(name)));
    const thing = parseThing(textOf(rows[0]?.[0]) ?? '');
    if (thing !== undefined) return thing;
  }
  throw new StoreError(`store: expected a domain ${name}, ${name}.ton or ${name}.t.me, got none`, { code: 'no-row' });
}

/** The user-friendly form of a raw address; null for one that has none. */
async function friendlyForm(read: Read, address: string): Promise<string | null> {
  const { rows } = await read(`SELECT friendly_address(${quoteText(address)})`);
  return textOf(rows[0]?.[0]) ?? null;
}
