import type { MessagePort } from 'node:worker_threads';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch } from '../../decode/batch.ts';
import type { FileForm, FolderState } from '../../warehouse/staging/row-folder.ts';
import type { RowSink } from '../span-loader.ts';
import { type Calls, callsOver } from './call-thread.ts';
import { type EncoderCall, memoryOf, type WriteReply, wireBatch } from './encoder-messages.ts';

/** A sink of rows that another thread writes. */
export interface EncoderSink extends RowSink {
  /** Waits until all rows are written. */
  written(): Promise<FolderState>;
}

/**
 * A worker's connection to the encoder thread. One chunk of rows is under way at a time; its memory is transferred, and returned to
 * `giveBack`.
 */
export class Encoder {
  private readonly calls: Calls;
  private readonly giveBack: (memory: readonly ArrayBuffer[]) => void;
  /** Settles when no chunk is under way. */
  private busy: Promise<unknown> = Promise.resolve();

  constructor(port: MessagePort, giveBack: (memory: readonly ArrayBuffer[]) => void) {
    this.calls = callsOver(port);
    this.giveBack = giveBack;
  }

  declare(pipeline: PipelineDef): void {
    // The first chunk gets the error.
    this.ask({ kind: 'declare', pipeline }).catch(() => {});
  }

  /** A sink that adds rows to the files in a folder. */
  sink(folder: string, form: FileForm): EncoderSink {
    let written: Promise<FolderState> = Promise.resolve({ bytes: 0, isUniform: true, growing: [] });
    const send = async (batches: readonly Batch[], startsPart: boolean): Promise<FolderState> => {
      const memory = memoryOf(batches);
      const call = { kind: 'write', folder, form, startsPart, batches: batches.map(wireBatch), memory } as const;
      const reply = (await this.ask(call, memory)) as WriteReply;
      this.giveBack(reply.memory);
      return reply.state;
    };
    return {
      ready: async () => void (await this.busy),
      write: async (batches, startsPart) => {
        const before = written;
        written = Promise.all([send(batches, startsPart), before]).then(([state]) => state);
        this.busy = written.catch(() => {});
      },
      written: () => written,
    };
  }

  private ask(call: EncoderCall, transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    return this.calls.ask(call, transfer);
  }
}
