import transactions from '../../pipelines/transactions.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import { columnProofs } from '../../src/proof/column-proofs.ts';
import { decodedRows } from '../../src/proof/content-audit.ts';
import { type ContentProof, proveContent } from '../../src/proof/content-proof.ts';
import { verdicts } from '../../src/proof/verdicts.ts';
import { type Json, pageOf } from './genuine.ts';

const decoder = new Decoder(transactions);

/** The paths of fields in a transaction, as in `Changed`, by whether its hash covers them, by the declaration that docs/proof.md is made of. */
export function fieldsBy(isCovered: boolean): readonly string[] {
  return transactions.tables.flatMap((table) => {
    const { rows, columns } = table;
    const proofs = columnProofs(table);
    const places = rows.kind === 'nested' ? rows.places.map(({ path }) => path) : [''];
    return columns.flatMap(({ name, origin }) => {
      const by = proofs?.get(name)?.by ?? [];
      const isOf = origin.kind === 'path' && by.length > 0 && by.includes('hash') === isCovered;
      return isOf ? places.map((place) => `${place}${origin.path}`) : [];
    });
  });
}

/** The proof of some transactions, and the transaction of each message. */
export function proofOf(list: readonly Json[]): ContentProof & { readonly parents: Int32Array } {
  decoder.clear();
  const { refused } = decoder.decode(pageOf(list));
  const rows = decodedRows(decoder);
  if (rows === undefined || refused.length > 0) throw new Error(`expected rows, got ${refused.length} refused`);
  return { ...proveContent(rows, 0, list.length), parents: rows.parents };
}

/** What the proof says of each transaction: its verdict, and how many of its messages are unknown or have a wrong opcode. */
export function statesOf(list: readonly Json[]): readonly string[] {
  const { verdicts: found, wrongOpcodes, unknownMessages, parents } = proofOf(list);
  const counts = list.map(() => ({ unknown: 0, opcodes: 0 }));
  for (const row of unknownMessages) (counts[parents[row] as number] ?? { unknown: 0 }).unknown++;
  for (const { row } of wrongOpcodes) (counts[parents[row] as number] ?? { opcodes: 0 }).opcodes++;
  return counts.map(({ unknown, opcodes }, row) => `${verdicts[found[row] ?? 0]} ${unknown} ${opcodes}`);
}

/** True if the decoder refuses a transaction. */
function isRefused(transaction: Json): boolean {
  decoder.clear();
  return decoder.decode(pageOf([transaction])).refused.length > 0;
}

/** Another value, as near as there is; undefined for null. */
function changed(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string' || value === '') return undefined;
  if (/^-?\d+$/.test(value)) return String(BigInt(value) + 1n);
  const at = value.length > 8 ? value.length >> 1 : value.length - 1;
  return `${value.slice(0, at)}${value[at] === 'A' ? 'B' : value[at] === 'a' ? 'b' : 'A'}${value.slice(at + 1)}`;
}

/** A transaction with one field changed. */
export interface Changed {
  /** Lists have no positions: `/out_msgs/hash`. */
  readonly path: string;
  readonly transaction: Json;
}

/** Copies of a transaction with each field changed once. Decoded bodies are one field. */
export function changedCopies(transaction: Json): readonly Changed[] {
  const copies: Changed[] = [];
  const walk = (object: Json, path: string): void => {
    for (const [key, value] of Object.entries(object)) {
      const own = Array.isArray(object) ? path : `${path}/${key}`;
      const isDecoded = key === 'decoded';
      if (typeof value === 'object' && value !== null && !isDecoded) {
        walk(value as Json, own);
        continue;
      }
      const other = isDecoded && value !== null ? {} : changed(value);
      if (other === undefined) continue;
      object[key] = other;
      copies.push({ path: own, transaction: JSON.parse(JSON.stringify(transaction)) as Json });
      object[key] = value;
    }
  };
  walk(transaction, '');
  return copies;
}

/** The paths of the fields that can be changed. */
export function pathsOf(transaction: Json): readonly string[] {
  return changedCopies(transaction).map(({ path }) => path);
}

/** The paths whose change the proof does not notice in a transaction, and the number of changes. */
export function unnoticed(transaction: Json): { readonly paths: readonly string[]; readonly changes: number } {
  const [before] = statesOf([transaction]);
  const copies = changedCopies(transaction);
  const decoded = copies.filter((copy) => !isRefused(copy.transaction));
  const states = statesOf(decoded.map((copy) => copy.transaction));
  const paths = decoded.flatMap(({ path }, index) => (states[index] === before ? path : []));
  return { paths, changes: copies.length };
}
