import { parentPort } from 'node:worker_threads';
import type { PipelineDef } from '../declare/pipeline.ts';
import { type RowFile, RowFolder } from '../store/rowfolder.ts';
import { freeMemory } from './free.ts';
import { Loader } from './loader.ts';
import { type Call, encodeError, type Reply, type Request } from './workerwire.ts';

// The entry of a worker thread: one loader, called from the main thread. Calls are answered in their order.

type Tables = readonly RowFile[];

let loader: Loader<Tables> | undefined;
let last: Promise<unknown> = Promise.resolve();

function loaderFor(pipeline: PipelineDef | undefined): Loader<Tables> {
  // The memory of the loader before goes with it.
  if (pipeline !== undefined) loader = new Loader<Tables>(pipeline);
  if (loader === undefined) throw new Error('expected a pipeline with the first call');
  return loader;
}

async function perform(own: Loader<Tables>, call: Call): Promise<unknown> {
  switch (call.kind) {
    case 'open':
      return own.open(call.span, call.headers);
    case 'add':
      return own.add(call.page, call.overflow).finally(() => freeMemory(call.page.buffer));
    case 'audit':
      return own.audit();
    case 'drop':
      return own.drop(call.seqno);
    case 'finish':
      return own.finish(call.spans, (_, at) => new RowFolder(call.folders[at] as string, call.form));
  }
}

async function answer({ id, call, pipeline }: Request): Promise<Reply> {
  try {
    return { id, kind: 'value', value: await perform(loaderFor(pipeline), call) };
  } catch (error) {
    return { id, kind: 'error', error: encodeError(error) };
  }
}

parentPort?.on('message', (request: Request) => {
  last = last.then(async () => parentPort?.postMessage(await answer(request)));
});
