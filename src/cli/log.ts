import { dirname } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { asStoreError } from '../files/file-failure.ts';
import { makeFoldersSync } from '../files/make-folders.ts';

/** A file of JSON lines. */
export interface Log {
  readonly info: (event: object) => void;
  readonly warn: (event: object) => void;
  /** Aborted, with the error as its reason, once a line could not be written. */
  readonly failure: AbortSignal;
}

/** Appends to a file; its folder is made if need be. @throws {UsageError} `no-log` when it cannot be written */
export async function openLog(path: string): Promise<Log> {
  const { default: pino } = await import('pino');
  const failure = new AbortController();
  try {
    makeFoldersSync(dirname(path));
    const file = pino.destination({ dest: path, sync: true });
    file.on('error', (error: unknown) => failure.abort(asStoreError(error, `log ${path}`, '--log')));
    const logger = pino({ base: { pid: process.pid } }, file);
    return {
      info: (event) => logger.info(event),
      warn: (event) => logger.warn(event),
      failure: failure.signal,
    };
  } catch (cause) {
    throw new UsageError(`usage: expected a writable log file, cannot write ${path}`, { code: 'no-log', cause });
  }
}
