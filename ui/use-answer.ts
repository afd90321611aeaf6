import { useEffect, useState } from 'preact/hooks';
import { get } from './api.ts';

/** An answer of the server: not there yet, there, or failed. */
export interface Answer<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
}

export interface AnswerOptions {
  /** Asks again whenever it changes; the last answer stays until then. */
  readonly version?: number;
  /** Keeps the last answer, too, while another path is asked. */
  readonly isKept?: boolean;
}

/** Asks the server for a path, if there is one. */
export function useAnswer<T>(path: string | undefined, { version = 0, isKept = false }: AnswerOptions = {}): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T> & { readonly path: string | undefined }>();
  // A new version is asked for, too.
  useEffect(() => {
    if (path === undefined) return;
    const controller = new AbortController();
    get<T>(path, controller.signal).then(
      (value) => setAnswer({ value, error: undefined, path }),
      (error: Error) => {
        if (!controller.signal.aborted) setAnswer({ value: undefined, error, path });
      },
    );
    return () => controller.abort();
  }, [path, version]);
  return answer !== undefined && (isKept || answer.path === path) ? answer : { value: undefined, error: undefined };
}
