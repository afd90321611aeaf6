import type { PipelineDef } from '../../declare/pipeline.ts';
import type { RowFile } from '../../warehouse/staging/row-folder.ts';
import { SpanLoader } from '../span-loader.ts';
import { answerCalls } from './call-thread.ts';
import { Encoder, type Written } from './encoder-client.ts';
import type { Call, LoaderCall } from './worker-messages.ts';

// Entry of a worker thread: a loader that the main thread calls, and the thread that writes its rows. Calls are answered in order.

let loader: SpanLoader<Written> | undefined;
let encoder: Encoder | undefined;
let last: Promise<unknown> = Promise.resolve();
/** Files in progress, by the number of the call. */
const writing = new Map<number, Promise<readonly (readonly RowFile[])[]>>();
let writings = 0;

function declare(pipeline: PipelineDef): void {
  const own = new SpanLoader<Written>(pipeline);
  loader = own;
  encoder ??= new Encoder(new URL('./encoder-worker.js', import.meta.url), (memory) => loader?.giveBack(memory));
  encoder.declare(pipeline);
}

async function perform(call: LoaderCall): Promise<unknown> {
  const own = loader;
  if (own === undefined) throw new Error('expected a pipeline with the first call');
  switch (call.kind) {
    case 'open':
      return own.open(call.span, call.rules);
    case 'add':
      return own.add(call.page, call.rules);
    case 'audit':
      return own.audit();
    case 'links':
      return own.links(call.ends);
    case 'drop':
      return own.drop(call.unit);
    case 'flush':
      return own.flush(() => writer().sink(call.folder, call.form));
    case 'write': {
      const written = await own.write(call.spans, (_, at) => writer().sink(call.folders[at] ?? '', call.form));
      const files = Promise.all(written.map((one) => one.files));
      // The call `written` gets the error.
      files.catch(() => {});
      writing.set(++writings, files);
      return writings;
    }
    case 'clear':
      return own.clear();
  }
}

function writer(): Encoder {
  if (encoder === undefined) throw new Error('expected a pipeline with the first call');
  return encoder;
}

answerCalls(async (given) => {
  const { call, pipeline } = given as Call;
  if (call.kind === 'written') {
    const files = writing.get(call.number);
    writing.delete(call.number);
    return { value: await files };
  }
  const done = last.then(() => {
    if (pipeline !== undefined) declare(pipeline);
    return perform(call);
  });
  last = done.catch(() => {});
  return { value: await done };
});
