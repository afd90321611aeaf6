import * as z from 'zod';
import { kinds } from '../declare/kind.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { expectation } from './decode-plan.ts';
import { compactJson, parseExact } from './json-text.ts';
import { Misfit, readCell, shown, valueAt } from './object-decoder.ts';
import type { RefusedRecord } from './scan-page.ts';

/** Why a record could not be decoded. */
export interface Explanation {
  /** JSON pointer from the top of the page: `/transactions/3/lt`. */
  readonly pointer: string;
  /** `expected a decimal string (decimal-int64), got 17 (number)`. */
  readonly reason: string;
}

/** Reads a refused record again, slowly, to say what is wrong with it. */
export function explainRefusal(pipeline: PipelineDef, refused: RefusedRecord): Explanation {
  const base = pipeline.tables.find((table) => table.rows.kind === 'records') as TableDef;
  const place = `${base.rows.kind === 'records' ? base.rows.path : ''}/${refused.index}`;
  const record: unknown = parseExact(compactJson(refused.raw));
  const result = schemaOf(pipeline).safeParse(record);
  if (result.success) {
    return {
      pointer: place + refused.pointer,
      reason: `expected ${refused.expected}, got the key twice`,
    };
  }
  const issue = result.error.issues[0] as z.core.$ZodIssue;
  const pointer = issue.path.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  const value = valueAt(record, pointer);
  return { pointer: place + pointer, reason: `expected ${issue.message}, got ${shown(value)}` };
}

/** The masterchain block that a refused record says it belongs to; undefined where it does not say. */
export function masterchainSeqnoOf({ tables }: PipelineDef, { raw }: RefusedRecord): number | undefined {
  const column = tables[0]?.columns.find(({ name }) => name === 'mc_block_seqno');
  if (column?.origin.kind !== 'path') return undefined;
  const seqno = valueAt(JSON.parse(compactJson(raw)), column.origin.path);
  return Number.isSafeInteger(seqno) ? (seqno as number) : undefined;
}

const schemas = new WeakMap<PipelineDef, z.ZodType>();

function schemaOf(pipeline: PipelineDef): z.ZodType {
  const known = schemas.get(pipeline);
  if (known !== undefined) return known;
  const tree: Tree = { leaf: undefined, children: new Map(), optional: false };
  for (const table of pipeline.tables) {
    if (table.rows.kind === 'nested') {
      const nested: Tree = { leaf: undefined, children: new Map(), optional: false };
      addColumns(nested, table);
      for (const place of table.rows.places) {
        const item = toZod(nested);
        put(tree, place.path, (place.count === 'one' ? item : z.array(item, 'an array of objects')).nullish());
      }
    } else {
      addColumns(tree, table);
    }
  }
  const schema = toZod(tree);
  schemas.set(pipeline, schema);
  return schema;
}

interface Tree {
  leaf: z.ZodType | undefined;
  readonly children: Map<string, Tree>;
  optional: boolean;
}

function addColumns(tree: Tree, table: TableDef): void {
  const kept = table.columns.flatMap(({ kind, origin }) =>
    kinds[kind].wire === 'json' && origin.kind === 'path' ? [`${origin.path}/`] : [],
  );
  for (const def of table.columns) {
    const { origin } = def;
    if (origin.kind !== 'path' || kept.some((path) => origin.path.startsWith(path))) continue;
    const kind = kinds[def.kind];
    if (kind.wire === 'json' || kind.wire === 'comment') continue;
    const fits = z.custom((value) => isReadable(() => readCell(kind, value)), expectation(kind.wire, kind.name));
    put(tree, origin.path, def.nullable || table.rows.kind === 'projection' ? fits.nullish() : fits);
  }
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof Misfit) return false;
    throw error;
  }
}

function put(root: Tree, path: string, leaf: z.ZodType): void {
  let tree = root;
  for (const name of path.slice(1).split('/')) {
    const next: Tree = tree.children.get(name) ?? { leaf: undefined, children: new Map(), optional: false };
    tree.children.set(name, next);
    tree = next;
  }
  tree.leaf ??= leaf;
}

function toZod(tree: Tree): z.ZodType {
  if (tree.leaf !== undefined && tree.children.size === 0) return tree.leaf;
  const shape = Object.fromEntries([...tree.children].map(([name, child]) => [name, optionalWhereEmpty(toZod(child))]));
  return z.looseObject(shape, 'an object');
}

/** An object may be missing when nothing inside it is required. */
function optionalWhereEmpty(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodObject && schema.safeParse({}).success ? schema.nullish() : schema;
}
