import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch } from '../../decode/batch.ts';
import type { FileForm, RowFile } from '../../warehouse/staging/row-folder.ts';
import type { RowSink } from '../span-loader.ts';
import { CallThread } from './call-thread.ts';
import { type EncoderCall, memoryOf, wireBatch } from './encoder-messages.ts';

/** The files of a span, in an object, so that `await` does not wait for them. */
export interface Written {
  readonly files: Promise<readonly RowFile[]>;
}

/**
 * The encoder thread of a worker. It writes one chunk of rows at a time, whose memory is transferred, and returned to `giveBack`.
 */
export class Encoder {
  private readonly thread: CallThread;
  private readonly giveBack: (memory: readonly ArrayBuffer[]) => void;
  /** Settles when the encoder is idle. */
  private busy: Promise<void> = Promise.resolve();

  constructor(file: URL, giveBack: (memory: readonly ArrayBuffer[]) => void) {
    this.thread = new CallThread(file);
    this.giveBack = giveBack;
  }

  declare(pipeline: PipelineDef): void {
    this.track(this.ask({ kind: 'declare', pipeline }));
  }

  /** A sink that writes the rows of a span to files in a folder. */
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

  /** Notes the work of the encoder. The caller gets its errors. */
  private track<T>(work: Promise<T>): Promise<T> {
    this.busy = work.then(ignore, ignore);
    return work;
  }

  private ask<T>(call: EncoderCall, transfer: readonly ArrayBuffer[] = []): Promise<T> {
    return this.thread.ask(call, transfer) as Promise<T>;
  }
}

function ignore(): void {}
