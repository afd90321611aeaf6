import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** Maximum `content-length` for which memory is allocated in advance; chunks of larger bodies are joined at the end. */
const PREALLOCATED_BYTES = 64 * 2 ** 20;

export interface WholeResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As it came over the wire. */
  readonly body: Buffer;
}

/** The response did not end within the time limit. */
export class Overdue extends Error {}

export interface WholeRequest extends Dispatcher.DispatchOptions {
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
  /** From the request to the last byte. */
  readonly timeoutMs: number;
}

/**
 * Sends a request and reads its response into one piece of memory. Streams and an abort signal for each request would cost more than
 * all else that is done for a small page, so this is a handler of the dispatcher itself.
 *
 * @throws {Overdue}, the signal's reason, and errors of undici
 */
export function requestWhole({ dispatcher, signal, timeoutMs, ...options }: WholeRequest): Promise<WholeResponse> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let isOver = false;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let body = new Body(0);
    const end = (): boolean => {
      const isFirst = !isOver;
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      return isFirst;
    };
    const fail = (error: unknown): void => {
      if (!end()) return;
      reject(error);
      controller?.abort(asError(error));
    };
    const onAbort = (): void => fail(signal.reason);
    const timer = setTimeout(() => fail(new Overdue('overdue')), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) return onAbort();
    try {
      dispatcher.dispatch(options, {
        onRequestStart: (given) => {
          controller = given;
          if (isOver) given.abort(new Overdue('given up before it was sent'));
        },
        onResponseStart: (_, code, received) => {
          status = code;
          headers = received;
          body = new Body(Number(received['content-length'] ?? 0));
        },
        onResponseData: (_, chunk) => body.add(chunk),
        onResponseEnd: () => {
          if (end()) resolve({ status, headers, body: body.whole() });
        },
        onResponseError: (_, error) => fail(error),
      });
    } catch (error) {
      fail(error);
    }
  });
}

/** Collects a body in its own ArrayBuffer, so that it can be transferred to a thread. */
class Body {
  private readonly memory: Buffer | undefined;
  private readonly pieces: Buffer[] = [];
  private length = 0;

  /** @param expected `content-length`; 0 if the response has none */
  constructor(expected: number) {
    if (expected > 0 && expected <= PREALLOCATED_BYTES) this.memory = Buffer.allocUnsafeSlow(expected);
  }

  add(chunk: Buffer): void {
    if (this.memory === undefined) this.pieces.push(chunk);
    else chunk.copy(this.memory, this.length);
    this.length += chunk.length;
  }

  whole(): Buffer {
    if (this.memory !== undefined) return this.memory.subarray(0, this.length);
    const joined = Buffer.allocUnsafeSlow(this.length);
    let at = 0;
    for (const piece of this.pieces) at += piece.copy(joined, at);
    return joined;
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
