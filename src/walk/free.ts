import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** What Node has from 21 on. */
interface Transferable {
  readonly transfer?: (length: number) => ArrayBuffer;
}

let closed: MessagePort | undefined;

/**
 * Gives memory back at once that nobody looks at any more. Bodies lie outside of V8's heap: left to it they pile up to some 64 MB for
 * each thread before it looks for garbage, and make it look often.
 */
export function freeMemory(buffer: ArrayBuffer): void {
  const { transfer } = buffer as Transferable;
  if (transfer !== undefined) {
    transfer.call(buffer, 0);
    return;
  }
  // What is given to a port that nobody reads is gone.
  if (closed === undefined) {
    const { port1, port2 } = new MessageChannel();
    port2.close();
    closed = port1;
  }
  closed.postMessage(undefined, [buffer]);
}
