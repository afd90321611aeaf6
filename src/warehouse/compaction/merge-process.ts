import { fork } from 'node:child_process';
import { compiledFile } from '../../core/compiled-file.ts';
import { StoreError } from '../../core/errors.ts';
import { decodeError, type WireError } from '../../core/wire-error.ts';
import type { StagedSpan } from '../store.ts';
import { splitFiles } from './merge-group.ts';
import type { MergeWork, StageMerge } from './stage-merge.ts';

const MERGE_WORKER = new URL('./merge-worker.js', import.meta.url);

/** The message to the process, sent once after it has started. */
export interface MergeRequest {
  readonly work: MergeWork;
  /** Local folder with all source files at their paths. */
  readonly warehouse: string;
}

export type MergeReply =
  | { readonly kind: 'staged'; readonly tables: StagedSpan['tables'] }
  | { readonly kind: 'failed'; readonly error: WireError };

/**
 * {@link StageMerge} in a process that ends with the merge, which frees all of its memory. In a long-running process, fragmentation would
 * retain a part of the memory of each merge.
 *
 * @throws {StoreError} also `merge-ended` if the process ended early, for example because it needed too much memory
 */
export const stageMergeApart: StageMerge = async (work, localFolder) => {
  const files = [...splitFiles(work.entries).joined.values()].flat();
  const reply = await runProcess({ work, warehouse: await localFolder(files) });
  if (reply.kind === 'failed') throw decodeError(reply.error);
  return reply.tables;
};

function runProcess(request: MergeRequest): Promise<MergeReply> {
  const child = fork(compiledFile(MERGE_WORKER), [], {
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  return new Promise((resolve, reject) => {
    let reply: MergeReply | undefined;
    const fail = (problem: string, cause?: unknown): void => {
      reject(
        new StoreError(`store: merge ${request.work.span.from}:${request.work.span.to}: ${problem}`, {
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
    // After its end, it has no file open.
    child.once('exit', (code, signal) => {
      if (reply !== undefined) resolve(reply);
      else fail(`its process ended with ${signal ?? `exit code ${code}`}`);
    });
    child.send(request, (error) => {
      // The exit code or signal explains more.
      if (error !== null) child.kill();
    });
  });
}
