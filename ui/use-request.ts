import { useEffect, useState } from 'preact/hooks';
import { get } from './api.ts';

/** The state of a request: both undefined while it is loading. */
interface RequestState<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
}

interface RequestOptions {
  /** A change repeats the request; the last value stays until the new one arrives. */
  readonly version?: number;
  /** True to show the last value while another path is loading, too. */
  readonly keepsPrevious?: boolean;
}

/** Requests a path from the server, if there is one. */
export function useRequest<T>(
  path: string | undefined,
  { version = 0, keepsPrevious = false }: RequestOptions = {},
): RequestState<T> {
  const [state, setState] = useState<RequestState<T> & { readonly path: string | undefined }>();
  useEffect(() => {
    if (path === undefined) return;
    const controller = new AbortController();
    get<T>(path, controller.signal).then(
      (value) => setState({ value, error: undefined, path }),
      (error: Error) => {
        if (!controller.signal.aborted) setState({ value: undefined, error, path });
      },
    );
    return () => controller.abort();
  }, [path, version]);
  return state !== undefined && (keepsPrevious || state.path === path) ? state : { value: undefined, error: undefined };
}
