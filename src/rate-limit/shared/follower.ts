import { connect, type Socket } from 'node:net';
import type { Holder } from '../permit-pool.ts';
import { readToHolder, send, type ToHolder, WIRE_VERSION } from './leader-messages.ts';

/** A leader that is silent for this many checks while requests wait counts as stopped. */
const LOOK_MS = 500;
const SILENT_LOOKS = 5;
const HELLO_MS = 2500;

export interface LeaderConnectionOptions {
  readonly socket: string;
  readonly holder: Holder & { readonly rps: number | 'auto' };
  /** True if requests wait: then the connection keeps the process alive, and the leader is checked. */
  readonly isWaiting: () => boolean;
  readonly onGo: (ticket: number, startedAt: number, term: number) => void;
  /** The leader of a term is gone, or silent: then connecting again is useless. */
  readonly onEnd: (term: number, isSilent: boolean) => void;
}

/** Why there is no connection: no process answers, or the leader rejects this holder. */
export type NoLeader = { readonly kind: 'dead' } | { readonly kind: 'refused'; readonly reason: string };

/** Joins the leader that listens at a socket. */
export function connectToLeader(options: LeaderConnectionOptions): Promise<LeaderConnection | NoLeader> {
  return new Promise((resolve) => {
    const socket = connect({ path: options.socket });
    let connection: LeaderConnection | undefined;
    let refusal: string | undefined;
    const timer = setTimeout(() => socket.destroy(), HELLO_MS);
    readToHolder(socket, (message) => {
      if (message.kind === 'refused') refusal = message.reason;
      if (message.kind === 'joined') {
        clearTimeout(timer);
        connection = new LeaderConnection(socket, options, message.term, message.rps);
        resolve(connection);
      }
      connection?.receive(message);
    });
    socket.once('connect', () => send(socket, { kind: 'join', version: WIRE_VERSION, holder: options.holder }));
    socket.once('close', () => {
      clearTimeout(timer);
      connection?.end();
      resolve(refusal === undefined ? { kind: 'dead' } : { kind: 'refused', reason: refusal });
    });
  });
}

/** A connection to the leader in another process. */
export class LeaderConnection {
  readonly term: number;
  readonly #socket: Socket;
  readonly #options: LeaderConnectionOptions;
  readonly #watch: NodeJS.Timeout;
  #rps: number;
  #silence = 0;
  #isClosed = false;

  constructor(socket: Socket, options: LeaderConnectionOptions, term: number, rps: number) {
    this.#socket = socket;
    this.#options = options;
    this.term = term;
    this.#rps = rps;
    this.#watch = setInterval(() => this.#look(), LOOK_MS);
    this.#watch.unref();
    this.#hold();
  }

  get rps(): number {
    return this.#rps;
  }

  ask(ticket: number): void {
    this.#socket.ref();
    send(this.#socket, { kind: 'ask', ticket });
  }

  drop(ticket: number): void {
    send(this.#socket, { kind: 'drop', ticket });
    this.#hold();
  }

  slow(startedAt: number, holdMs: number | undefined): void {
    send(this.#socket, { kind: 'slow', startedAt, holdMs });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#watch);
    this.#socket.unref();
    this.#socket.end();
  }

  receive(message: ToHolder): void {
    this.#silence = 0;
    if (message.kind !== 'go') return;
    this.#rps = message.rps;
    this.#options.onGo(message.ticket, message.startedAt, this.term);
    this.#hold();
  }

  end(): void {
    clearInterval(this.#watch);
    if (!this.#isClosed) this.#options.onEnd(this.term, this.#silence > SILENT_LOOKS);
  }

  /** An idle connection does not keep the process alive. */
  #hold(): void {
    if (this.#options.isWaiting()) this.#socket.ref();
    else this.#socket.unref();
  }

  /** Counts checks instead of time: if this process itself was paused, only one check is late and received messages are read first. */
  #look(): void {
    if (!this.#options.isWaiting()) {
      this.#silence = 0;
      return;
    }
    this.#silence++;
    if (this.#silence > SILENT_LOOKS) this.#socket.destroy();
    else send(this.#socket, { kind: 'ping' });
  }
}
