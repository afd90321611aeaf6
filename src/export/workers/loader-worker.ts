import { type MessagePort, workerData } from 'node:worker_threads';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { FolderState } from '../../warehouse/staging/row-folder.ts';
import { SpanLoader } from '../span-loader.ts';
import { answerCalls } from './call-thread.ts';
import { Encoder } from './encoder-client.ts';
import type { Call, LoaderCall } from './worker-messages.ts';

// Entry of a worker thread: a loader that the main thread calls, and that hands its rows to the encoder thread. Calls are answered in order.

let loader: SpanLoader | undefined;
const encoder = new Encoder(workerData as MessagePort, (memory) => loader?.giveBack(memory));
let last: Promise<unknown> = Promise.resolve();
/** Writes in progress, by the number of the call. */
const writing = new Map<number, Promise<FolderState>>();
let writings = 0;

async function perform(call: LoaderCall, own: SpanLoader): Promise<unknown> {
  switch (call.kind) {
    case 'open':
      return own.open(call.span, call.rules);
    case 'add':
      return own.add(call.page, call.rules);
    case 'audit':
      return own.audit(call.mode);
    case 'contentOf':
      return own.contentOf(call.span);
    case 'links':
      return own.links(call.ends);
    case 'drop':
      return own.drop(call.unit);
    case 'flush': {
      const sink = encoder.sink(call.folder, call.form);
      await own.flush(sink);
      return void (await sink.written());
    }
    case 'write': {
      const sink = encoder.sink(call.folder, call.form);
      await own.write(call.span, sink);
      const written = sink.written();
      // The call `written` gets the error.
      written.catch(() => {});
      writing.set(++writings, written);
      return writings;
    }
    case 'clear':
      return own.clear();
  }
}

function declare(pipeline: PipelineDef): SpanLoader {
  encoder.declare(pipeline);
  return new SpanLoader(pipeline);
}

answerCalls(async (given) => {
  const { call, pipeline } = given as Call;
  if (call.kind === 'written') {
    const written = writing.get(call.number);
    writing.delete(call.number);
    return { value: await written };
  }
  const done = last.then(() => {
    if (pipeline !== undefined) loader = declare(pipeline);
    if (loader === undefined) throw new Error('expected a pipeline with the first call');
    return perform(call, loader);
  });
  last = done.catch(() => {});
  return { value: await done };
});
