import { createHash } from 'node:crypto';
import type { Effects } from '../../src/core/effects.ts';
import { Random } from './random.ts';

/** A process of the simulation: what one piece of work starts. */
export interface SimulatedProcess {
  readonly pid: number;
  readonly name: string;
  /** When it began, by the world's clock. */
  readonly startedAt: number;
  /** What its clock shows beyond the world's, in milliseconds. */
  readonly skewMs: number;
  isAlive: boolean;
  /** Calls of it that failed, or lost their answer. Without one, only another process can be the reason of an error. */
  faults: number;
}

/** A call to the outside world that waits for its turn. */
interface Call {
  readonly process: SimulatedProcess;
  readonly name: string;
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Timer {
  readonly process: SimulatedProcess;
  readonly at: number;
  readonly fire: () => void;
}

/** How often something goes wrong, as a share of the calls. */
export interface Troubles {
  /** A call fails without an effect. */
  readonly fails: number;
  /** A call has its effect, and then fails. */
  readonly loses: number;
  /** The process of a call dies, before or after it. */
  readonly kills: number;
  /** The machine loses its power: all processes die, and what was not synced. */
  readonly powerLosses: number;
  /** The machine sleeps for hours before a call, unless it has just woken: no step of a commit takes more than a day. */
  readonly sleeps: number;
}

export const NONE: Troubles = { fails: 0, loses: 0, kills: 0, powerLosses: 0, sleeps: 0 };

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

/** A promise of the simulation was broken. */
export class Broken extends Error {}

/**
 * A machine, or several that share an object store: one call at a time is chosen by the seed among those that wait, and takes effect, fails,
 * or is the last one of its process. Nothing else decides what happens, so that a seed gives the same history again.
 */
export class World {
  readonly random: Random;
  /** Milliseconds since 1970. */
  now = Date.UTC(2030, 0, 1);
  calls = 0;
  troubles: Troubles = NONE;
  /** Changes when the power was lost. */
  boots = 1;
  bootedAt = this.now;
  /** Called when the power is lost, after all processes died. */
  onPowerLoss: () => void = () => {};
  /** What broke first. */
  broken: Broken | undefined;
  readonly processes: SimulatedProcess[] = [];
  /** Whose code runs: one call is answered at a time, and all runs until it waits for the next one. */
  #running: SimulatedProcess | undefined;
  readonly #history = createHash('sha256');
  readonly #tell: ((line: string) => void) | undefined;
  #waiting: Call[] = [];
  #timers: Timer[] = [];
  #wokeAt = 0;
  #pids = 100;
  #ids = 0;

  /** @param tell gets a line for each call. Default: none */
  constructor(seed: number, tell?: (line: string) => void) {
    this.random = new Random(seed);
    this.#tell = tell;
  }

  /** The process whose code runs; undefined outside of all. */
  get process(): SimulatedProcess | undefined {
    return this.#running;
  }

  /** Hash of all calls so far. */
  get trace(): string {
    return this.#history.copy().digest('hex').slice(0, 16);
  }

  /** Starts a process. Errors that it throws break the simulation. */
  start(name: string, main: () => Promise<void>, skewMs = 0): SimulatedProcess {
    const process = { pid: this.#pids++, name, startedAt: this.now, skewMs, isAlive: true, faults: 0 };
    this.processes.push(process);
    this.#running = process;
    main()
      .catch((error: unknown) => this.break(error instanceof Error ? (error.stack ?? error.message) : String(error)))
      .finally(() => this.kill(process));
    return process;
  }

  kill(process: SimulatedProcess): void {
    process.isAlive = false;
    this.processes.splice(0, this.processes.length, ...this.processes.filter(({ isAlive }) => isAlive));
    this.#waiting = this.#waiting.filter((call) => call.process.isAlive);
    this.#timers = this.#timers.filter((timer) => timer.process.isAlive);
  }

  /** A promise of the store does not hold. The first one ends the simulation. */
  break(reason: string): void {
    this.broken ??= new Broken(`${this.process?.name ?? 'the world'}: ${reason}`);
  }

  /** A line of the history. */
  note(line: string): void {
    this.#history.update(`${line}\n`);
    const { name = '', pid = '' } = this.process ?? {};
    this.#tell?.(`${this.calls} ${new Date(this.now).toISOString()} ${name} ${pid} ${line}`);
  }

  /** A call that has an answer later. One of a dead process never has one. */
  call<T>(name: string, work: () => T): Promise<T> {
    const { process } = this;
    if (process?.isAlive !== true) return new Promise(() => {});
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ process, name, work, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { process } = this;
    if (process?.isAlive !== true) return new Promise(() => {});
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const timer = { process, at: this.now + Math.max(0, ms), fire: resolve };
      this.#timers.push(timer);
      signal?.addEventListener('abort', () => {
        this.#timers = this.#timers.filter((each) => each !== timer);
        reject(signal.reason);
      });
    });
  }

  /** Clock and randomness of the process that calls. */
  readonly effects: Effects = {
    now: () => Math.floor(this.now + (this.process?.skewMs ?? 0)),
    monotonic: () => this.now - this.bootedAt,
    sleep: (ms, signal) => this.sleep(ms, signal),
    random: () => this.random.next(),
    freshId: () => (++this.#ids).toString(16).padStart(12, '0'),
  };

  /** Goes on until nothing waits any more, `end` calls were made, or a promise is broken. @param between called before each call */
  async run(end: number, between: () => void = () => {}): Promise<void> {
    for (;;) {
      await turn();
      if (this.broken !== undefined || this.calls >= end) return;
      this.#running = undefined;
      between();
      await turn();
      if (this.#waiting.length === 0 && !this.#wait()) return;
      await this.#fireTimers();
      this.#callNext();
    }
  }

  /** Lets all time pass until a timer is due. @returns false if there is none */
  #wait(): boolean {
    const next = this.#timers.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY) return false;
    this.now = Math.max(this.now, next);
    return true;
  }

  async #fireTimers(): Promise<void> {
    const due = this.#timers.filter(({ at }) => at <= this.now);
    if (due.length === 0) return;
    this.#timers = this.#timers.filter(({ at }) => at > this.now);
    for (const { process, fire } of due.sort((a, b) => a.at - b.at)) {
      this.#running = process;
      fire();
      await turn();
    }
  }

  #callNext(): void {
    const { random, troubles } = this;
    const at = random.below(this.#waiting.length);
    const [call] = this.#waiting.splice(at, 1);
    if (call === undefined) return;
    this.calls++;
    this.now += random.happens(0.02) ? random.within(1000, 60_000) : random.within(1, 40);
    if (random.happens(troubles.sleeps) && this.now - this.#wokeAt >= 2 * MINUTE_MS) {
      this.now += random.within(1, 20) * HOUR_MS;
      this.#wokeAt = this.now;
    }
    if (random.happens(troubles.powerLosses)) return this.#losePower();
    const { process, name } = call;
    this.#running = process;
    if (!random.happens(troubles.kills)) return this.#answer(call);
    this.note(`${name} killed`);
    if (random.happens(0.5)) tryOnce(call.work);
    this.kill(process);
  }

  #answer({ process, name, work, resolve, reject }: Call): void {
    const { random, troubles } = this;
    if (random.happens(troubles.fails)) {
      process.faults++;
      this.note(`${name} fails`);
      return reject(failure(name));
    }
    const isLost = random.happens(troubles.loses);
    this.note(isLost ? `${name} loses its answer` : name);
    try {
      const value = work();
      if (!isLost) return resolve(value);
      process.faults++;
      reject(failure(name));
    } catch (error) {
      reject(error);
    }
  }

  #losePower(): void {
    this.#running = undefined;
    this.note('power lost');
    for (const process of [...this.processes]) this.kill(process);
    this.boots++;
    this.now += this.random.within(10_000, 600_000);
    this.bootedAt = this.now;
    this.onPowerLoss();
  }
}

/** Lets everything run that does not wait for a call. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function tryOnce(work: () => unknown): void {
  try {
    work();
  } catch {
    // Its caller is dead.
  }
}

function failure(name: string): Error {
  return Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO', errno: -5 });
}
