import { DecodeError } from '../core/errors.ts';
import type { ColumnDef } from '../declare/column.ts';
import { kinds, type Wire } from '../declare/kind.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Shape, TableDef } from '../declare/table.ts';
import { decodedColumns, ProjectedRows, TableRows } from './table-rows.ts';
import { type BoolColumn, BytesColumn, WordsColumn } from './typed-columns.ts';

/** How the scanner reads a value. */
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
  lenient: 13,
  object: 14,
  one: 15,
  many: 16,
} as const;

/** A compiled key of an object. All keys share one hidden class: different shapes made the scanner twice as slow. */
export class Key {
  /** The words of `"name":` but the last one. */
  readonly words: Int32Array;
  /** The last word, and the mask of its relevant bits. */
  readonly lastWord: number;
  readonly lastMask: number;
  /** Bytes of `"name":`. */
  readonly length: number;
  /** JSON pointer relative to the row. */
  readonly pointer: string;
  /** The key that followed this one last time: servers write keys in constant order. */
  next: Key | null = null;
  /** Number of the object in which this key occurred last. */
  metIn = 0;
  op: number = Op.skip;
  /** What `lenient` does with a value of the expected JSON type. */
  inner: number = Op.skip;
  expected = 'a JSON value';
  /** 1 if the value is required. */
  required = 0;
  bytes: BytesColumn | null = null;
  numbers: WordsColumn | null = null;
  flags: BoolColumn | null = null;
  /** Column for the JSON text of the value, in addition to `op`. */
  raw: BytesColumn | null = null;
  /** The JSON text would be stored, but a selection leaves it out. */
  isKnownWhole = false;
  min = 0;
  max = 0;
  bigMin = 0n;
  bigMax = 0n;
  node: Node | null = null;
  rows: TableRows | null = null;
  label: Uint8Array = new Uint8Array(0);

  constructor(name: string, pointer: string) {
    const bytes = Buffer.from(`${JSON.stringify(name)}:`);
    this.length = bytes.length;
    this.words = new Int32Array((bytes.length - 1) >> 2);
    for (const i of this.words.keys()) this.words[i] = bytes.readInt32LE(4 * i);
    const rest = bytes.subarray(4 * this.words.length);
    this.lastWord = Buffer.concat([rest], 4).readInt32LE(0);
    this.lastMask = Buffer.alloc(4).fill(255, 0, rest.length).readInt32LE(0);
    this.pointer = pointer;
  }
}

/** An object of known keys. */
export class Node {
  readonly keys: Key[] = [];
  readonly byName = new Map<string, Key>();
  readonly pointer: string;
  readonly rows: TableRows;
  /** The JSON text of the object is stored, including fields without a column. */
  isKept = false;
  /** The key that came first last time. */
  first: Key | null = null;
  /** Number of objects read, to detect duplicate keys. */
  objects = 0;

  constructor(pointer: string, rows: TableRows) {
    this.pointer = pointer;
    this.rows = rows;
  }

  key(name: string): Key {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const key = new Key(name, `${this.pointer}/${escapePointer(name)}`);
    this.keys.push(key);
    this.byName.set(name, key);
    return key;
  }

  /** Starts an object and returns its number. */
  open(): number {
    if (this.objects === MOST_OBJECTS) {
      for (const key of this.keys) key.metIn = 0;
      this.objects = 0;
    }
    this.objects++;
    return this.objects;
  }
}

/** Above 2^31 an integer is no longer a machine word. */
const MOST_OBJECTS = 2 ** 30;

/** A declaration compiled for the scanner. */
export interface Plan {
  readonly pipeline: PipelineDef;
  /** Key of the response that has the records. */
  readonly recordsKey: string;
  /** How the response is reshaped first. */
  readonly shape: Shape | undefined;
  readonly ignored: ReadonlySet<string>;
  readonly root: Node;
  readonly tables: readonly TableRows[];
  readonly projections: readonly ProjectedRows[];
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
        key.label = Uint8Array.from(Buffer.from(place.label));
      }
    } else {
      addColumns(rootNode, root, decodedColumns(table), true);
      for (const pointer of Object.keys(table.without)) walkTo(rootNode, pointer);
      addSkipped(rootNode, table);
    }
  }
  markKept(rootNode);
  return {
    pipeline,
    recordsKey: base.rows.path.slice(1),
    shape: base.rows.shape,
    ignored: new Set(pipeline.ignore),
    root: rootNode,
    tables,
    projections,
  };
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
      key.min = Number(min);
      key.max = Number(max);
      key.bigMin = min;
      key.bigMax = max;
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
function markKept(node: Node, isInside = false): void {
  node.isKept = isInside;
  for (const key of node.keys) {
    if (isInside && key.op < Op.lenient && key.op !== Op.skip) {
      key.inner = key.op;
      key.op = Op.lenient;
    }
    if (key.op === Op.object && key.node !== null) markKept(key.node, isInside || key.raw !== null || key.isKnownWhole);
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
  return new DecodeError(`decode ${pipeline.name}: expected ${expected} in the declaration, got none`, {
    code: 'declaration',
  });
}
