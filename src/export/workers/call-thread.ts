import { type MessagePort, parentPort, Worker } from 'node:worker_threads';
import { WalkError } from '../../core/errors.ts';
import { decodeError, encodeError, type WireError } from '../../core/wire-error.ts';

/** One call of a thread, from the thread that started it. */
interface Request {
  readonly id: number;
  readonly call: unknown;
}

type Reply =
  | { readonly id: number; readonly kind: 'value'; readonly value: unknown }
  | { readonly id: number; readonly kind: 'error'; readonly error: WireError };

/** Objects of a worker other than columns are small and short-lived. */
const YOUNG = { maxYoungGenerationSizeMb: 3 };

/** Memory, or a port, that moves to the other thread. */
export type Transferred = ArrayBuffer | MessagePort;

type Post<T> = (lot: readonly T[], transfer: readonly Transferred[]) => void;

/** Bytes at which calls go out without waiting for more, so that no thread idles and no answer waits behind much work. */
const LOT_BYTES = 262_144;

/** Messages of one turn of the event loop go out together: waking a thread costs more than decoding a small page. */
class Outbox<T> {
  private readonly post: Post<T>;
  private lot: T[] = [];
  private transfer: Transferred[] = [];
  private bytes = 0;

  constructor(post: Post<T>) {
    this.post = post;
  }

  add(message: T, transfer: readonly Transferred[]): void {
    if (this.lot.length === 0) setImmediate(() => this.flush());
    this.lot.push(message);
    for (const item of transfer) {
      this.transfer.push(item);
      if (item instanceof ArrayBuffer) this.bytes += item.byteLength;
    }
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

/** Calls that another thread answers. */
export class Calls {
  private readonly outbox: Outbox<Request>;
  private readonly waiting = new Map<number, Waiting>();
  private calls = 0;
  protected failure: WalkError | undefined;

  constructor(post: Post<Request>) {
    this.outbox = new Outbox(post);
  }

  /** @throws the error of the thread, or {@link WalkError} `worker-ended` if it ends by itself */
  ask(call: unknown, transfer: readonly Transferred[] = []): Promise<unknown> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const id = ++this.calls;
    const request: Request = { id, call };
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.outbox.add(request, transfer);
    });
  }

  settle(replies: readonly Reply[]): void {
    for (const reply of replies) {
      const waiting = this.waiting.get(reply.id);
      this.waiting.delete(reply.id);
      if (reply.kind === 'value') waiting?.resolve(reply.value);
      else waiting?.reject(decodeError(reply.error));
    }
  }

  fail(cause: Error): void {
    this.failure ??= new WalkError(`walk: a worker thread ended: ${cause.message}`, {
      code: 'worker-ended',
      hint: 'the same command continues after the last commit; --workers 0 runs without threads',
      cause,
    });
    for (const { reject } of this.waiting.values()) reject(this.failure);
    this.waiting.clear();
  }
}

/** A worker thread that answers calls. */
export class CallThread extends Calls {
  private readonly worker: Worker;

  /** @param port that the thread gets as its `workerData` */
  constructor(file: URL, port?: MessagePort) {
    const given = port === undefined ? {} : { workerData: port, transferList: [port] };
    const worker = new Worker(file, { resourceLimits: YOUNG, execArgv: [], ...given });
    super((lot, transfer) => worker.postMessage(lot, transfer));
    this.worker = worker;
    worker.on('message', (replies: readonly Reply[]) => this.settle(replies));
    worker.on('error', (error) => this.fail(error));
    worker.on('exit', (code) => this.fail(new Error(`exit code ${code}`)));
  }

  async close(): Promise<void> {
    this.failure ??= new WalkError('walk: the worker was closed', { code: 'closed' });
    await this.worker.terminate();
  }
}

/** Calls over a port, to a thread that this one did not start. */
export function callsOver(port: MessagePort): Calls {
  const calls = new Calls((lot, transfer) => port.postMessage(lot, transfer));
  port.on('message', (replies: readonly Reply[]) => calls.settle(replies));
  port.on('close', () => calls.fail(new Error('its port was closed')));
  return calls;
}

/** The result of a call, and the memory in it to transfer. */
export interface Answer {
  readonly value: unknown;
  readonly transfer?: readonly ArrayBuffer[];
}

/** Answers the calls that come to a port, by default that of the parent thread. They run concurrently; `perform` may order them. */
export function answerCalls(perform: (call: unknown) => Promise<Answer>, port = parentPort): void {
  const outbox = new Outbox<Reply>((lot, transfer) => port?.postMessage(lot, transfer));
  const answer = async ({ id, call }: Request): Promise<void> => {
    try {
      const { value, transfer = [] } = await perform(call);
      outbox.add({ id, kind: 'value', value }, transfer);
    } catch (error) {
      outbox.add({ id, kind: 'error', error: encodeError(error) }, []);
    }
  };
  port?.on('message', (requests: readonly Request[]) => {
    for (const request of requests) void answer(request);
  });
}
