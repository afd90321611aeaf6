import { fork } from 'node:child_process';
import { compiledFile } from '../../core/compiled-file.ts';
import { StoreError } from '../../core/errors.ts';
import { decodeError, type WireError } from '../../core/wire-error.ts';
import type { StagedSpan } from '../store.ts';
import { splitFiles } from './merge-group.ts';
import type { MergeWork, StageMerge } from './stage-merge.ts';

const MERGE_WORKER = new URL('./merge-worker.js', import.meta.url);

/** What the process is sent: once, after it has started. */
export interface MergeOrder {
  readonly work: MergeWork;
  /** The local folder of all source files. */
  readonly warehouse: string;
}

export type MergeReply =
  | { readonly kind: 'staged'; readonly tables: StagedSpan['tables'] }
  | { readonly kind: 'failed'; readonly error: WireError };

/**
 * {@link StageMerge} in a process that ends with the merge, and all of its memory with it: allocators do not return what a merge has freed
 * between small pieces that are still in use, and a process that goes on would keep a part of each merge.
 *
 * @throws {StoreError} also `merge-ended` if the process ended by itself, as one that needs too much memory does
 */
export const stageMergeApart: StageMerge = async (work, localFolder) => {
  const files = [...splitFiles(work.entries).joined.values()].flat();
  const order: MergeOrder = { work, warehouse: await localFolder(files) };
  const reply = await ask(order);
  if (reply.kind === 'failed') throw decodeError(reply.error);
  return reply.tables;
};

function ask(order: MergeOrder): Promise<MergeReply> {
  const child = fork(compiledFile(MERGE_WORKER), [], {
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  return new Promise((resolve, reject) => {
    let reply: MergeReply | undefined;
    const fail = (problem: string, cause?: unknown): void => {
      reject(
        new StoreError(`store: merge ${order.work.span.from}:${order.work.span.to}: ${problem}`, {
          code: 'merge-ended',
          retryable: true,
          cause,
        }),
      );
    };
    child.once('message', (message) => {
      reply = message as MergeReply;
    });
    child.once('error', (error) => fail(`its process could not be started: ${error.message}`, error));
    // Once it has ended, it holds no file open.
    child.once('exit', (code, signal) => {
      if (reply !== undefined) resolve(reply);
      else fail(`its process ended with ${signal ?? `exit code ${code}`}`);
    });
    child.send(order, (error) => {
      // The end of the process tells more.
      if (error !== null) child.kill();
    });
  });
}
