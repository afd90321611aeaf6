import { dirname } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { asStoreError } from '../files/file-failure.ts';
import { makeFoldersSync } from '../files/make-folders.ts';

/** A log file with JSON lines. */
export interface Log {
  readonly info: (event: object) => void;
  readonly warn: (event: object) => void;
  /** Aborted when a line cannot be written, with the error as its reason. */
  readonly failure: AbortSignal;
}

/** Opens a log file for appending; creates its folder. @throws {UsageError} `no-log` if it cannot be written */
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
