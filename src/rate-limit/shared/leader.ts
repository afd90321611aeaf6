import { createServer, type Server, type Socket } from 'node:net';
import type { Effects } from '../../core/effects.ts';
import { type Caller, PermitDispatcher } from '../permit-dispatcher.ts';
import { type Holder, Pool, type Seat } from '../permit-pool.ts';
import { type LeaderStatus, readToLeader, send, type ToLeader, WIRE_VERSION } from './leader-messages.ts';
import { claimTerm, isLatest, type Memo, readMemo, type StateFolder, socketPath, writeMemo } from './state-folder.ts';

/** A found limit is used for a week. */
const FOUND_MAX_AGE_MS = 7 * 86_400_000;
/** How often a leader checks that no other process has taken over; others wait much longer before they do. */
const CHECK_MS = 500;
const MEMO_MS = 1000;
const SHARE_SECONDS = 10;

export interface LeaderOptions {
  readonly folder: StateFolder;
  readonly term: number;
  readonly effects: Effects;
  /** Rate of the previous leader. */
  readonly rps: number | undefined;
  /** Called once, when another process has taken over. */
  readonly onDeposed: () => void;
}

/** Becomes the leader of a term; undefined if another process did. @throws if no socket can be opened */
export async function becomeLeader(options: LeaderOptions): Promise<Leader | undefined> {
  const { folder, term } = options;
  const path = socketPath(folder);
  const server = await listen(path);
  let isClaimed = false;
  try {
    isClaimed = claimTerm(folder, term, path);
  } finally {
    if (!isClaimed) server.close();
  }
  if (!isClaimed) return undefined;
  return new Leader(options, server);
}

async function listen(path: string): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  server.unref();
  return server;
}

/** The process that starts the requests of all processes of this machine. */
export class Leader {
  readonly term: number;
  readonly dispatcher: PermitDispatcher;
  readonly #options: LeaderOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #pool: Pool;
  #memo: Memo;
  #checkedAt: number;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #lastStart: number | undefined;
  #isClosed = false;

  constructor(options: LeaderOptions, server: Server) {
    const { folder, term, effects, rps } = options;
    this.term = term;
    this.#options = options;
    this.#server = server;
    this.#memo = readMemo(folder);
    this.#checkedAt = effects.monotonic();
    const isFresh = effects.now() - (this.#memo.foundAt ?? 0) < FOUND_MAX_AGE_MS;
    this.#pool = new Pool({ found: isFresh ? this.#memo.found : undefined, rps });
    this.dispatcher = new PermitDispatcher(this.#pool, effects, () => this.#mayServe());
    server.on('connection', (socket) => this.#receive(socket));
    // A failed accept affects one connection only.
    server.on('error', () => undefined);
  }

  /** Continues where the previous leader ended; called when the first holder has joined. */
  #resume(): void {
    const { effects } = this.#options;
    const { closedTerm, lastStart } = this.#memo;
    if (this.term === 1) return;
    const isKnown = closedTerm === this.term - 1 && lastStart !== undefined;
    // The last start of a killed leader is unknown: it may have been just now.
    const agoMs = isKnown ? Math.max(0, effects.now() - lastStart) : 0;
    this.#pool.resume(effects.monotonic() - agoMs);
  }

  /** Adds a holder of this process; those of others connect to the socket. */
  join(holder: Holder, caller: Caller): Seat {
    const isFirst = this.#pool.seats.length === 0 && this.#lastStart === undefined;
    const seat = this.dispatcher.join(holder, caller);
    if (isFirst) this.#resume();
    return seat;
  }

  slow(startedAt: number, holdMs: number | undefined): void {
    this.dispatcher.slow(startedAt, holdMs);
    this.#remember();
  }

  /** The other processes elect a new leader at once. */
  close(): void {
    if (this.#isClosed) return;
    this.#end();
    const { effects, folder } = this.#options;
    if (!isLatestSafely(folder, this.term)) return;
    const agoMs = this.#lastStart === undefined ? undefined : effects.monotonic() - this.#lastStart;
    this.#write({ lastStart: agoMs === undefined ? undefined : effects.now() - agoMs, closedTerm: this.term });
  }

  status(): LeaderStatus {
    const now = this.#options.effects.monotonic();
    const { cap, found } = this.#pool;
    return {
      ...{ rps: this.#pool.rateAt(now), cap, found, last429: this.#last429() },
      usedLastMinute: this.#pool.recent.within(60, now),
      heldMs: Math.max(0, Math.min(this.#pool.heldUntil - now, Number.MAX_SAFE_INTEGER)),
      holders: this.#pool.seats.map(({ pid, command, priority, rps, recent, waiting }) => ({
        ...{ pid, command, priority, rps: rps ?? 'auto' },
        usedLastMinute: recent.within(60, now),
        share: recent.within(SHARE_SECONDS, now) / SHARE_SECONDS,
        waiting: waiting.size,
      })),
    };
  }

  #mayServe(): boolean {
    const { effects, folder, onDeposed } = this.#options;
    const now = effects.monotonic();
    if (now - this.#checkedAt > CHECK_MS) {
      this.#checkedAt = now;
      if (!isLatestSafely(folder, this.term)) {
        this.#end();
        onDeposed();
        return false;
      }
      if (this.#pool.found !== this.#memo.found) this.#remember();
    }
    this.#lastStart = now;
    return true;
  }

  #receive(socket: Socket): void {
    if (this.#isClosed) {
      socket.destroy();
      return;
    }
    socket.unref();
    this.#sockets.add(socket);
    let seat: Seat | undefined;
    readToLeader(socket, (message) => {
      seat = this.#hear(socket, seat, message);
    });
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (seat !== undefined) this.dispatcher.leave(seat);
    });
  }

  #hear(socket: Socket, seat: Seat | undefined, message: ToLeader): Seat | undefined {
    switch (message.kind) {
      case 'join': {
        if (seat !== undefined) return seat;
        if (message.version !== WIRE_VERSION) {
          send(socket, { kind: 'refused', reason: `process ${process.pid} runs another version of tonlake` });
          socket.end();
          return undefined;
        }
        const { found } = this.#pool;
        const joined = this.join(message.holder, {
          go: (ticket, startedAt) => send(socket, { kind: 'go', ticket, startedAt, rps: this.#pool.rateAt(startedAt) }),
          fail: () => socket.destroy(),
        });
        const rps = this.#pool.rateAt(this.#options.effects.monotonic());
        send(socket, { kind: 'joined', term: this.term, rps, found });
        return joined;
      }
      case 'ask':
        if (seat !== undefined) this.dispatcher.ask(seat, message.ticket);
        return seat;
      case 'drop':
        if (seat !== undefined) this.dispatcher.drop(seat, message.ticket);
        return seat;
      case 'slow':
        if (seat !== undefined) this.slow(message.startedAt, message.holdMs);
        return seat;
      case 'ping':
        send(socket, { kind: 'pong' });
        return seat;
      case 'status':
        send(socket, { kind: 'status', status: this.status() });
        return seat;
    }
  }

  #end(): void {
    this.#isClosed = true;
    this.dispatcher.close();
    this.#server.close();
    for (const socket of this.#sockets) socket.end();
  }

  /** Wall clock of the last 429. */
  #last429(): number | undefined {
    const { effects } = this.#options;
    const { last429 } = this.#pool;
    return last429 === undefined ? this.#memo.last429 : effects.now() - (effects.monotonic() - last429);
  }

  /** Writes the memo, at most once per second. */
  #remember(): void {
    const now = this.#options.effects.monotonic();
    if (now - this.#writtenAt < MEMO_MS) return;
    this.#writtenAt = now;
    this.#write({});
  }

  #write(more: Partial<Memo>): void {
    const { effects, folder } = this.#options;
    const { found } = this.#pool;
    const isNew = found !== undefined && found !== this.#memo.found;
    const foundAt = isNew ? effects.now() : this.#memo.foundAt;
    this.#memo = { network: folder.baseUrl, found, foundAt, last429: this.#last429(), ...more };
    try {
      writeMemo(folder, this.#memo);
    } catch {
      // A full disk must not end an export; the next run starts without the memo.
    }
  }
}

function isLatestSafely(folder: StateFolder, term: number): boolean {
  try {
    return isLatest(folder, term);
  } catch {
    return true;
  }
}
