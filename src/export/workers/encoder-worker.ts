import type { TableDef } from '../../declare/table.ts';
import { type Batch, makeVector } from '../../decode/batch.ts';
import { RowFolder } from '../../warehouse/staging/row-folder.ts';
import { answerCalls } from './call-thread.ts';
import type { EncoderCall, WireBatch } from './encoder-messages.ts';

// Entry of a thread that writes the rows of a worker, which decodes the next span meanwhile.

let tables: readonly TableDef[] = [];
const folders = new Map<string, RowFolder>();
let last: Promise<unknown> = Promise.resolve();

function folderAt({ folder, form }: Extract<EncoderCall, { kind: 'write' | 'finish' }>): RowFolder {
  const opened = folders.get(folder) ?? new RowFolder(folder, form);
  folders.set(folder, opened);
  return opened;
}

function batchOf({ table, rows, vectors }: WireBatch): Batch {
  const declared = tables.find(({ name }) => name === table);
  if (declared === undefined) throw new Error(`expected a declared table, got ${table}`);
  return {
    table: declared,
    rows,
    vectors: vectors.map(({ nullCount, validity, offsets, values }, at) => {
      const column = declared.columns[at];
      if (column === undefined) throw new Error(`expected as many columns as ${table} has`);
      return makeVector({ column, nullCount, validity }, offsets, values);
    }),
  };
}

async function perform(call: EncoderCall): Promise<unknown> {
  switch (call.kind) {
    case 'declare':
      tables = call.pipeline.tables;
      return undefined;
    case 'write': {
      const folder = folderAt(call);
      for (const batch of call.batches) await folder.write(batchOf(batch));
      return call.memory;
    }
    case 'finish': {
      const folder = folderAt(call);
      folders.delete(call.folder);
      return folder.finish();
    }
    case 'discard': {
      const folder = folders.get(call.folder);
      folders.delete(call.folder);
      return folder?.discard();
    }
  }
}

answerCalls(async (given) => {
  const call = given as EncoderCall;
  const done = last.then(() => perform(call));
  last = done.catch(() => {});
  const value = await done;
  return call.kind === 'write' ? { value, transfer: call.memory } : { value };
});
