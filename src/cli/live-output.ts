import { dirname } from 'node:path';
import { usage } from '../core/errors.ts';
import type { ExportOptions } from '../export/open-export.ts';
import type { Deliveries } from '../feed/deliveries.ts';
import type { Feed } from '../feed/feed.ts';
import { asStoreError } from '../files/file-failure.ts';
import { makeFoldersSync } from '../files/make-folders.ts';
import type { RetryEvent } from '../http/source.ts';
import type { BackgroundPublisher } from '../iceberg/background-publisher.ts';
import type { CommitStep } from '../warehouse/index.ts';
import type { Context } from './context.ts';
import { LiveEvents } from './live-events.ts';
import { describePublished, describeUnpublished, openPublishing, type PublishPlace } from './publishing.ts';

export interface LiveOptions {
  /** Log file; undefined for none. */
  readonly logPath: string | undefined;
  /** A line to be shown first, when the source has answered. */
  readonly note: string | undefined;
  /** Where the tables are published along with the commits; undefined for nowhere. */
  readonly publish: PublishPlace | undefined;
  /** Where commits and alerts are sent. */
  readonly feeds: readonly Feed[];
  /** The command of this process, for the error of another process that sends to the same target. */
  readonly command: string;
}

/** A log file with JSON lines. */
interface Log {
  readonly info: (event: object) => void;
  readonly warn: (event: object) => void;
  /** Aborted when a line cannot be written, with the error as its reason. */
  readonly failure: AbortSignal;
}

/** Where the events of `run` and `follow` go: standard output as JSON, people, a log, and publishing after commits. */
export class LiveOutput {
  /** Aborted by an interrupt, or when the log cannot be written. */
  readonly signal: AbortSignal;
  readonly events: LiveEvents;
  readonly #context: Context;
  readonly #log: Log | undefined;
  #publisher: BackgroundPublisher | undefined;
  #deliveries: Deliveries | undefined;
  #note: string | undefined;

  private constructor(context: Context, note: string | undefined, log: Log | undefined) {
    this.#context = context;
    this.#note = note;
    this.#log = log;
    this.events = new LiveEvents(context.line, context.isJson);
    this.signal = log === undefined ? context.signal : AbortSignal.any([context.signal, log.failure]);
  }

  /** @param isPatient true to wait at the end until targets accepted everything @throws {UsageError} if the log cannot be written */
  static async open(
    context: Context,
    options: ExportOptions,
    live: LiveOptions,
    isPatient: boolean,
  ): Promise<LiveOutput> {
    const onFailure = (message: string): void => context.line.print(describeUnpublished(message));
    const publisher = live.publish && (await openPublishing(live.publish, options, onFailure));
    const log = live.logPath === undefined ? undefined : await openLog(live.logPath);
    const output = new LiveOutput(context, live.note, log);
    output.#publisher = publisher;
    if (live.feeds.length > 0) await output.#openDeliveries(live, isPatient);
    return output;
  }

  async #openDeliveries({ feeds, command }: LiveOptions, isPatient: boolean): Promise<void> {
    const [{ Deliveries }, { sendTo }] = await Promise.all([
      import('../feed/deliveries.ts'),
      import('../jobs/delivery-target.ts'),
    ]);
    const { effects, signal } = this.#context;
    this.#deliveries = new Deliveries(feeds, {
      effects,
      send: sendTo,
      command,
      isPatient: () => isPatient && !signal.aborted,
      onEvent: (event) => this.see(event, false, this.events.showFollow),
    });
  }

  /** Steps after each commit. */
  get steps(): readonly CommitStep[] {
    return [this.#publisher, this.#deliveries].filter((step) => step !== undefined);
  }

  /** @param isDetail true for an event that only `show` gets: neither JSON nor the log has it */
  see<E extends { readonly event: string }>(event: E, isDetail: boolean, show: (event: E) => void): void {
    this.#printNote();
    if (!isDetail) {
      if (this.#context.isJson) this.#context.print(event, () => '');
      this.#log?.info(event);
    }
    show(event);
  }

  readonly retry = (event: RetryEvent): void => {
    this.#printNote();
    this.#log?.warn({ event: 'retry', ...event });
    this.events.retry(event);
  };

  throwIfBroken(): void {
    this.#log?.failure.throwIfAborted();
  }

  /** Prints what was published last. @returns the error if publishing failed; the rows are committed anyway */
  finish(): unknown {
    const { report, error } = this.#publisher?.last ?? {};
    if (report === undefined) return error;
    if (!this.#context.isJson) this.#context.write(describePublished(report));
    if (report.skipped.length > 0) process.exitCode = 1;
    return undefined;
  }

  /** @throws {DeliveryError} if a target did not take all */
  requireDelivered(): void {
    this.#deliveries?.requireDelivered();
  }

  #printNote(): void {
    if (this.#note !== undefined) this.#context.line.print(this.#note);
    this.#note = undefined;
  }
}

/** Opens a log file for appending; creates its folder. */
async function openLog(path: string): Promise<Log> {
  const { default: pino } = await import('pino');
  const failure = new AbortController();
  try {
    makeFoldersSync(dirname(path));
    const file = pino.destination({ dest: path, sync: true });
    file.on('error', (error: unknown) => failure.abort(asStoreError(error, `log ${path}`, '--log')));
    const logger = pino({ base: { pid: process.pid } }, file);
    return {
      info: (event) => logger.info(event),
      warn: (event) => logger.warn(event),
      failure: failure.signal,
    };
  } catch (cause) {
    throw usage(`a writable log file, cannot write ${path}`, undefined, undefined, { cause });
  }
}
