import { parentPort, Worker } from 'node:worker_threads';
import { WalkError } from '../../core/errors.ts';
import { decodeError, encodeError, type WireError } from '../../core/wire-error.ts';

/** A call of a method of the thread's object. */
interface Request {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

type Reply =
  | { readonly id: number; readonly kind: 'value'; readonly value: unknown }
  | { readonly id: number; readonly kind: 'error'; readonly error: WireError };

/** An object whose methods can be called from another thread: arguments and results are plain data. */
export type Callable<T> = { readonly [Name in keyof T]: (...args: never[]) => Promise<unknown> };

/** Objects of a worker other than columns are small and short-lived. */
const YOUNG = { maxYoungGenerationSizeMb: 3 };

/** Bytes at which a lot is posted early, so that no thread idles and no reply waits behind much work. */
const LOT_BYTES = 262_144;

/** Posts the messages of one turn of the event loop together: waking a thread costs more than decoding a small page. */
class Outbox<T> {
  private readonly post: (lot: readonly T[], transfer: readonly ArrayBuffer[]) => void;
  private lot: T[] = [];
  private transfer: ArrayBuffer[] = [];
  private bytes = 0;

  constructor(post: (lot: readonly T[], transfer: readonly ArrayBuffer[]) => void) {
    this.post = post;
  }

  add(message: T, transfer: readonly ArrayBuffer[] = []): void {
    if (this.lot.length === 0) setImmediate(() => this.flush());
    this.lot.push(message);
    this.transfer.push(...transfer);
    for (const { byteLength } of transfer) this.bytes += byteLength;
    if (this.bytes >= LOT_BYTES) this.flush();
  }

  private flush(): void {
    const { lot, transfer } = this;
    if (lot.length === 0) return;
    this.lot = [];
    this.transfer = [];
    this.bytes = 0;
    this.post(lot, transfer);
  }
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A worker thread that serves calls of its object's methods. Byte arguments are transferred to the thread. */
export class CallThread {
  private readonly worker: Worker;
  private readonly outbox: Outbox<Request>;
  private readonly waiting = new Map<number, Waiting>();
  private calls = 0;
  private failure: WalkError | undefined;

  constructor(file: URL) {
    this.worker = new Worker(file, { resourceLimits: YOUNG, execArgv: [] });
    this.outbox = new Outbox((lot, transfer) => this.worker.postMessage(lot, transfer));
    this.worker.on('message', (replies: readonly Reply[]) => this.settle(replies));
    this.worker.on('error', (error) => this.fail(error));
    this.worker.on('exit', (code) => this.fail(new Error(`exit code ${code}`)));
  }

  /** The object of the thread. Its methods throw their own errors, or a {@link WalkError} if the thread ends by itself. */
  object<T extends Callable<T>>(): T {
    return forwarding<T>((method, args) => this.call(method, args));
  }

  async close(): Promise<void> {
    this.failure ??= new WalkError('walk: the worker was closed');
    await this.worker.terminate();
  }

  private call(method: string, given: readonly unknown[]): Promise<unknown> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const args = given.map((arg) => (arg instanceof Uint8Array ? ownBytes(arg) : arg));
    const transfer = args.flatMap((arg) => (arg instanceof Uint8Array ? (arg as Uint8Array<ArrayBuffer>).buffer : []));
    const id = ++this.calls;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.outbox.add({ id, method, args }, transfer);
    });
  }

  private settle(replies: readonly Reply[]): void {
    for (const reply of replies) {
      const waiting = this.waiting.get(reply.id);
      this.waiting.delete(reply.id);
      if (reply.kind === 'value') waiting?.resolve(reply.value);
      else waiting?.reject(decodeError(reply.error));
    }
  }

  private fail(cause: Error): void {
    this.failure ??= new WalkError(`walk: the worker thread ended: ${cause.message}`, {
      hint: 'the same command continues after the last commit',
      cause,
    });
    for (const { reject } of this.waiting.values()) reject(this.failure);
    this.waiting.clear();
  }
}

/** An object whose methods forward their calls. */
export function forwarding<T extends Callable<T>>(
  call: (method: keyof T & string, args: readonly unknown[]) => Promise<unknown>,
): T {
  return new Proxy({} as T, {
    get: (_, method) =>
      // `await` looks for this property.
      method === 'then' ? undefined : (...args: unknown[]) => call(String(method) as keyof T & string, args),
  });
}

/** Serves calls of an object's methods from the parent thread. They begin in the order of arrival. */
export function answerCalls<T extends Callable<T>>(object: T): void {
  const outbox = new Outbox<Reply>((lot) => parentPort?.postMessage(lot));
  const answer = async ({ id, method, args }: Request): Promise<void> => {
    try {
      // `CallThread.object` has the methods of the same type.
      const value = await object[method as keyof T](...(args as never[]));
      outbox.add({ id, kind: 'value', value });
    } catch (error) {
      outbox.add({ id, kind: 'error', error: encodeError(error) });
    }
  };
  parentPort?.on('message', (requests: readonly Request[]) => {
    for (const request of requests) void answer(request);
  });
}

/** The bytes in an ArrayBuffer of their own, which can be transferred. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  // Node shares memory of at most 64 KiB between small buffers.
  const isAlone = byteLength === buffer.byteLength || byteLength > 65_536;
  const isOwn = buffer instanceof ArrayBuffer && isAlone && buffer.byteLength < 2 * byteLength;
  return isOwn ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array(bytes);
}
