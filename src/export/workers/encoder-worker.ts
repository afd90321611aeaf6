import type { MessagePort } from 'node:worker_threads';
import type { TableDef } from '../../declare/table.ts';
import { type Batch, makeVector } from '../../decode/batch.ts';
import { RowFolder } from '../../warehouse/staging/row-folder.ts';
import { type Answer, answerCalls } from './call-thread.ts';
import type { EncoderCall, WireBatch } from './encoder-messages.ts';

// Entry of the thread that writes the rows of all workers, which decode the next spans meanwhile. The main thread says which worker writes
// to which folder, and when the files of a folder are complete.

const folders = new Map<string, RowFolder>();
let last: Promise<unknown> = Promise.resolve();

function batchOf(tables: readonly TableDef[], { table, rows, vectors }: WireBatch): Batch {
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

/** Answers calls in order, over all ports. */
function serve(port?: MessagePort): void {
  let tables: readonly TableDef[] = [];
  const perform = async (call: EncoderCall): Promise<Answer> => {
    switch (call.kind) {
      case 'connect':
        return { value: serve(call.port) };
      case 'declare':
        tables = call.pipeline.tables;
        return { value: undefined };
      case 'write': {
        const { memory } = call;
        const folder = folders.get(call.folder) ?? new RowFolder(call.folder, call.form);
        folders.set(call.folder, folder);
        for (const batch of call.batches) await folder.write(batchOf(tables, batch), call.startsPart);
        return { value: { memory, state: folder.state }, transfer: memory };
      }
      case 'finish': {
        const folder = folders.get(call.folder);
        folders.delete(call.folder);
        return { value: (await folder?.finish()) ?? [] };
      }
      case 'discard': {
        const folder = folders.get(call.folder);
        folders.delete(call.folder);
        return { value: await folder?.discard() };
      }
    }
  };
  answerCalls((call) => {
    const done = last.then(() => perform(call as EncoderCall));
    last = done.catch(() => {});
    return done;
  }, port);
}

serve();
