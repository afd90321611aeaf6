import { StoreError, shortMessage } from '../core/errors.ts';
import { newerTonlake } from '../core/newer-tonlake.ts';
import { sha256Of } from '../core/sha256.ts';
import { suggest } from '../core/suggest.ts';
import { checkPipeline } from './check-declaration.ts';
import type { ColumnDef } from './column.ts';
import { kinds } from './kind.ts';
import type { PipelineDef } from './pipeline.ts';

/** A declaration as stored beside its rows. */
export interface StoredDeclaration {
  readonly pipeline: string;
  /** 16 hex digits of a hash of the text. */
  readonly id: string;
  /** JSON. */
  readonly text: string;
}

/** The complete declaration of a pipeline: left-out columns are stored with each entry. */
export function serializePipeline(pipeline: PipelineDef): StoredDeclaration {
  const text = JSON.stringify({ ...pipeline, leftOut: undefined });
  return { pipeline: pipeline.name, id: sha256Of(text, 16), text };
}

/**
 * A pipeline from its stored declaration.
 *
 * @param subject where it is stored, for messages
 * @throws {StoreError} if it is damaged, or does not match the identifier; `newer-tonlake` if it declares what this
 * version cannot read
 */
export function parsePipeline(text: string, id: string, subject: string): PipelineDef {
  let pipeline: unknown;
  try {
    if (sha256Of(text, 16) !== id) throw new Error('the text does not match the identifier');
    pipeline = JSON.parse(text);
  } catch (error) {
    throw new StoreError(`store: ${subject} is no declaration of a pipeline`, {
      hint: `${suggest('verify')} names all damage; --pipelines with the folder of your pipelines gives the declaration again`,
      cause: error,
    });
  }
  try {
    checkPipeline(subject, pipeline);
    return pipeline;
  } catch (error) {
    throw newerTonlake(subject, undefined, shortMessage(error), error);
  }
}

/**
 * Checks that rows stored under one declaration can be read with another of the same version, which may only add columns.
 *
 * @throws {StoreError} `changed-declaration` if the key differs, a column is missing, or its type, unit or origin differs
 */
export function requireUnchanged(stored: PipelineDef, now: PipelineDef, path: string): void {
  if (stored.version !== now.version) return;
  for (const before of stored.tables) {
    const after = now.tables.find(({ name }) => name === before.name);
    if (after === undefined) throw changed(path, `table ${before.name}`, '', 'which is not declared any more');
    if (before.key.join() !== after.key.join()) {
      const [was, now] = [before, after].map(({ key }) => key.join(', '));
      throw changed(path, before.name, `by the key ${was}`, `now declared by ${now}`);
    }
    for (const column of before.columns) {
      const same = after.columns.find(({ name }) => name === column.name);
      const subject = `column ${before.name}.${column.name}`;
      const meaning = meaningOf(column);
      if (same === undefined) throw changed(path, subject, `as ${meaning}`, 'which is not declared any more');
      if (meaning !== meaningOf(same))
        throw changed(path, subject, `as ${meaning}`, `now declared as ${meaningOf(same)}`);
      if (JSON.stringify(column.origin) !== JSON.stringify(same.origin)) {
        throw changed(path, subject, `from ${originOf(column)}`, `now declared from ${originOf(same)}`);
      }
    }
  }
}

function meaningOf({ kind, unit }: ColumnDef): string {
  return `${kind} (${kinds[kind].sql})${unit === undefined ? '' : ` in ${unit}`}`;
}

function originOf({ origin }: ColumnDef): string {
  return 'path' in origin ? origin.path : `${origin.kind}${'column' in origin ? ` ${origin.column}` : ''}`;
}

function changed(path: string, subject: string, was: string, now: string): StoreError {
  const stored = was === '' ? subject : `${subject} ${was}`;
  return new StoreError(`store: warehouse ${path} holds ${stored}, ${now}`, {
    code: 'changed-declaration',
    hint: 'give the table another name, or choose another --warehouse',
  });
}
