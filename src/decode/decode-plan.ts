import { DecodeError } from '../core/errors.ts';
import type { ColumnDef } from '../declare/column.ts';
import { kinds, type Wire } from '../declare/kind.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Shape, TableDef } from '../declare/table.ts';
import type { Kernel } from './kernel.ts';
import { decodedColumns, ProjectedRows, TableRows } from './table-rows.ts';
import { type BoolColumn, BytesColumn, WordsColumn } from './typed-columns.ts';

/** How the kernel reads a value. The build makes `wasm/generated/numbering.ts` of it. */
export const Op = {
  skip: 0,
  string: 1,
  hash: 2,
  decimal64: 3,
  decimal128: 4,
  integer: 5,
  boolean: 6,
  shard: 7,
  opcode: 8,
  base64: 9,
  comment: 10,
  integer128: 11,
  wide: 12,
  address: 13,
  lenient: 14,
  object: 15,
  one: 16,
  many: 17,
  /** The list of records in the response. */
  records: 18,
} as const;

/** A known key of an object, and what is done with its value. */
export class Key {
  readonly name: string;
  /** JSON pointer relative to the row. */
  readonly pointer: string;
  op: number = Op.skip;
  /** What `lenient` does with a value of the expected JSON type. */
  inner: number = Op.skip;
  expected = 'a JSON value';
  /** 1 if the value is required. */
  required = 0;
  bytes: BytesColumn | undefined;
  numbers: WordsColumn | undefined;
  flags: BoolColumn | undefined;
  /** Column for the JSON text of the value, in addition to `op`. */
  raw: BytesColumn | undefined;
  /** The JSON text would be stored, but a selection leaves it out. */
  isKnownWhole = false;
  min = 0n;
  max = 0n;
  node: Node | undefined;
  rows: TableRows | undefined;
  label = '';

  constructor(name: string, pointer: string) {
    this.name = name;
    this.pointer = pointer;
  }
}

/** An object of known keys. */
export class Node {
  readonly byName = new Map<string, Key>();
  readonly pointer: string;
  readonly rows: TableRows | undefined;
  /** The JSON text of the object is stored, including fields without a column. */
  isStored = false;
  /** Address in the kernel's memory; 0 until it is built. */
  address = 0;

  constructor(pointer: string, rows: TableRows | undefined) {
    this.pointer = pointer;
    this.rows = rows;
  }

  key(name: string): Key {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const key = new Key(name, `${this.pointer}/${escapePointer(name)}`);
    this.byName.set(name, key);
    return key;
  }
}

/** A declaration compiled for the kernel. */
export interface Plan {
  readonly pipeline: PipelineDef;
  /** Key of the response that has the records. */
  readonly recordsKey: string;
  /** How the response is reshaped first. */
  readonly shape: Shape | undefined;
  /** The known keys of the response. */
  readonly envelope: Node;
  readonly root: Node;
  readonly records: TableRows;
  readonly tables: readonly TableRows[];
  readonly projections: readonly ProjectedRows[];
  /** In the order of their numbers in the kernel. */
  readonly keys: readonly Key[];
}

/** Compiles a pipeline's declaration. */
export function compilePlan(pipeline: PipelineDef): Plan {
  const base = pipeline.tables.find((table) => table.rows.kind === 'records');
  if (base === undefined || base.rows.kind !== 'records') throw wrongDeclaration(pipeline, 'a table with records');
  const root = new TableRows(base, undefined);
  const tables = [root];
  const projections: ProjectedRows[] = [];
  const rootNode = new Node('', root);
  for (const table of pipeline.tables) {
    const { rows } = table;
    if (rows.kind === 'projection') {
      projections.push(new ProjectedRows(table, root, rows.anyOf));
      addColumns(rootNode, root, decodedColumns(table), false);
    } else if (rows.kind === 'nested') {
      const nested = new TableRows(table, root);
      tables.push(nested);
      const node = new Node('', nested);
      addColumns(node, nested, decodedColumns(table), true);
      addSkipped(node, table);
      for (const place of rows.places) {
        const key = walkTo(rootNode, place.path);
        key.op = place.count === 'one' ? Op.one : Op.many;
        key.expected = place.count === 'one' ? 'an object' : 'an array of objects';
        key.node = node;
        key.rows = nested;
        key.label = place.label;
      }
    } else {
      addColumns(rootNode, root, decodedColumns(table), true);
      for (const pointer of Object.keys(table.without)) walkTo(rootNode, pointer);
      addSkipped(rootNode, table);
    }
  }
  markStored(rootNode);
  const recordsKey = base.rows.path.slice(1);
  const envelope = new Node('', undefined);
  for (const name of pipeline.ignore) envelope.key(name);
  envelope.key(recordsKey).op = Op.records;
  const keys = [...new Set(keysOf(rootNode))];
  return {
    pipeline,
    recordsKey,
    shape: base.rows.shape,
    envelope,
    root: rootNode,
    records: root,
    tables,
    projections,
    keys,
  };
}

/** The keys of a node and its descendants; a node at several places is repeated. */
function keysOf(node: Node): readonly Key[] {
  return [...node.byName.values()].flatMap((key) => [key, ...(key.node === undefined ? [] : keysOf(key.node))]);
}

/** Builds the plan and its tables in the memory of a new kernel. */
export function buildPlan(kernel: Kernel, plan: Plan): void {
  for (const rows of plan.tables) rows.build(kernel);
  for (const rows of plan.projections) rows.build(kernel);
  const nodes = new Map<Node, number>();
  const numbers = new Map(plan.keys.map((key, number) => [key, number]));
  const build = (node: Node): number => {
    const known = nodes.get(node);
    if (known !== undefined) return known;
    const pointer = Buffer.from(JSON.stringify(node.pointer).slice(1, -1));
    const address = kernel.calls.newNode(
      node.rows?.address ?? 0,
      kernel.give(pointer),
      pointer.length,
      Number(node.isStored),
    );
    nodes.set(node, address);
    node.address = address;
    for (const key of node.byName.values()) buildKey(kernel, address, key, numbers.get(key) ?? 0, build);
    return address;
  };
  build(plan.envelope);
  build(plan.root);
}

function buildKey(kernel: Kernel, node: number, key: Key, number: number, build: (node: Node) => number): void {
  const { calls } = kernel;
  const text = Buffer.from(`${JSON.stringify(key.name)}:`);
  const address = calls.newKey(node, number, kernel.give(text), text.length);
  const { bytes, numbers, flags, raw } = key;
  calls.setColumns(address, bytes?.address ?? 0, numbers?.address ?? 0, flags?.address ?? 0, raw?.address ?? 0);
  const halves = [key.min, key.min >> 64n, key.max, key.max >> 64n].map((half) => BigInt.asIntN(64, half));
  const [minLow = 0n, minHigh = 0n, maxLow = 0n, maxHigh = 0n] = halves;
  calls.setBounds(address, minLow, minHigh, maxLow, maxHigh);
  const label = Buffer.from(key.label);
  calls.setLabel(address, kernel.give(label), label.length);
  const inside = key.node === undefined ? 0 : build(key.node);
  calls.setKey(address, key.op, key.inner, key.required, inside, key.rows?.address ?? 0);
}

function addColumns(root: Node, rows: TableRows, columns: readonly ColumnDef[], own: boolean): void {
  for (const def of columns) {
    if (def.origin.kind !== 'path') continue;
    const key = walkTo(root, def.origin.path);
    const column = rows.columnAt(def.origin.path, def);
    const { wire, physical, min, max } = kinds[def.kind];
    if (own && !def.nullable) key.required = 1;
    if (wire === 'json') {
      key.raw = column as BytesColumn;
      continue;
    }
    const { op, wideOp = op } = WIRES[wire];
    key.op = physical === 'decimal128' ? wideOp : op;
    key.expected = expectation(wire, def.kind);
    if (column instanceof BytesColumn) key.bytes = column;
    else if (column instanceof WordsColumn) key.numbers = column;
    else key.flags = column;
    if (min !== undefined && max !== undefined) {
      key.min = min;
      key.max = max;
    }
  }
}

/** Fields that a selection leaves out are known; other columns may still be read from inside them. */
function addSkipped(root: Node, { skipped = [] }: TableDef): void {
  for (const { path, isWhole } of skipped) {
    const key = walkTo(root, path);
    if (isWhole) key.isKnownWhole = true;
  }
}

/**
 * Marks objects inside values whose JSON text is stored. If a field inside has another JSON type than its column (details of actions
 * share names, but not types), the column is null: nothing is lost.
 */
function markStored(node: Node, isInside = false): void {
  node.isStored = isInside;
  for (const key of node.byName.values()) {
    if (isInside && key.op < Op.lenient && key.op !== Op.skip) {
      key.inner = key.op;
      key.op = Op.lenient;
    }
    if (key.op === Op.object && key.node !== undefined)
      markStored(key.node, isInside || key.raw !== undefined || key.isKnownWhole);
  }
}

/** The key at a pointer; objects on the way are created. */
function walkTo(root: Node, path: string): Key {
  const names = path.slice(1).split('/').map(unescapePointer);
  let node = root;
  for (const name of names.slice(0, -1)) {
    const key = node.key(name);
    key.op = Op.object;
    key.expected = 'an object';
    key.node ??= new Node(key.pointer, node.rows);
    node = key.node;
  }
  return node.key(names.at(-1) as string);
}

/** How each JSON form is read: as a number of 128 bits, by `wideOp`. */
const WIRES: Readonly<Record<Wire, { readonly op: number; readonly wideOp?: number; readonly expected: string }>> = {
  string: { op: Op.string, expected: 'a string' },
  address: { op: Op.address, expected: 'a string' },
  'hash-string': { op: Op.hash, expected: 'a base64 hash of 44 characters' },
  'decimal-string': { op: Op.decimal64, wideOp: Op.decimal128, expected: 'a decimal string (KIND)' },
  'wide-decimal': { op: Op.wide, expected: 'a decimal string' },
  integer: { op: Op.integer, wideOp: Op.integer128, expected: 'an integer (KIND)' },
  boolean: { op: Op.boolean, expected: 'true or false' },
  'hex-shard': { op: Op.shard, expected: 'a shard in upper-case hex' },
  'hex-opcode': { op: Op.opcode, expected: 'an opcode of 0x and 8 hex digits' },
  base64: { op: Op.base64, expected: 'a base64 string' },
  comment: { op: Op.comment, expected: 'a JSON value' },
  json: { op: Op.skip, expected: 'a JSON value' },
};

/** Expected value of a JSON form, for error messages. */
export function expectation(wire: Wire, kind: string): string {
  return WIRES[wire].expected.replace('KIND', kind);
}

/** Escapes a field name for a JSON pointer. */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapePointer(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

function wrongDeclaration(pipeline: PipelineDef, expected: string): DecodeError {
  return new DecodeError(`decode ${pipeline.name}: expected ${expected} in the declaration, got none`);
}
