import { useEffect, useState } from 'preact/hooks';
import { get } from './api.ts';

/** An answer of the server: not there yet, there, or failed. */
export interface Answer<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
}

/** Asks the server when the path changes, or `version` does; the last answer stays until then. */
export function useAnswer<T>(path: string | undefined, version = 0): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T> & { readonly path: string | undefined }>();
  useEffect(() => {
    if (path === undefined || version < 0) return;
    const controller = new AbortController();
    get<T>(path, controller.signal).then(
      (value) => setAnswer({ value, error: undefined, path }),
      (error: Error) => {
        if (!controller.signal.aborted) setAnswer({ value: undefined, error, path });
      },
    );
    return () => controller.abort();
  }, [path, version]);
  return answer?.path === path && answer !== undefined ? answer : { value: undefined, error: undefined };
}
