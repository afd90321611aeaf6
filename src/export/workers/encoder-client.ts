import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch } from '../../decode/batch.ts';
import type { FileForm, RowFile } from '../../warehouse/staging/row-folder.ts';
import type { RowSink } from '../span-loader.ts';
import { CallThread } from './call-thread.ts';
import { type EncoderCall, memoryOf, wireBatch } from './encoder-messages.ts';

/** The files of a span, when they are written. In an object, so that nobody waits for them by accident. */
export interface Written {
  readonly files: Promise<readonly RowFile[]>;
}

/**
 * The encoder thread of a worker. One chunk of rows is under way at most; its memory goes over, and comes back to `giveBack` when
 * the rows are written.
 */
export class Encoder {
  private readonly thread: CallThread;
  private readonly giveBack: (memory: readonly ArrayBuffer[]) => void;
  /** Settles when the encoder has nothing to do. */
  private busy: Promise<void> = Promise.resolve();

  constructor(file: URL, giveBack: (memory: readonly ArrayBuffer[]) => void) {
    this.thread = new CallThread(file);
    this.giveBack = giveBack;
  }

  declare(pipeline: PipelineDef): void {
    this.track(this.ask({ kind: 'declare', pipeline }));
  }

  /** Takes the rows of a span, which go to files in a folder. */
  sink(folder: string, form: FileForm): RowSink<Written> {
    let written: Promise<unknown> = Promise.resolve();
    const discard = (): Promise<void> => this.ask({ kind: 'discard', folder });
    const finish = async (): Promise<readonly RowFile[]> => {
      try {
        await written;
        return await this.ask<readonly RowFile[]>({ kind: 'finish', folder, form });
      } catch (error) {
        await discard();
        throw error;
      }
    };
    return {
      ready: () => this.busy,
      write: async (batches) => {
        written = this.track(Promise.all([written, this.send(folder, form, batches)]));
      },
      finish: async () => ({ files: this.track(finish()) }),
      discard,
    };
  }

  private async send(folder: string, form: FileForm, batches: readonly Batch[]): Promise<void> {
    const memory = memoryOf(batches);
    const call = { kind: 'write', folder, form, batches: batches.map(wireBatch), memory } as const;
    this.giveBack(await this.ask<readonly ArrayBuffer[]>(call, memory));
  }

  /** Remembers what the encoder is doing; whoever asked for it hears of its errors. */
  private track<T>(work: Promise<T>): Promise<T> {
    this.busy = work.then(ignore, ignore);
    return work;
  }

  private ask<T>(call: EncoderCall, transfer: readonly ArrayBuffer[] = []): Promise<T> {
    return this.thread.ask(call, transfer) as Promise<T>;
  }
}

function ignore(): void {}
