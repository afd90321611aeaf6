import type { FeedFile } from './feed-file.ts';

/** Maximum number of alerts in the log. Older ones are sent again if their rows are read again. */
const MAX_ALERTS = 50_000;

/** State of the newest alerts to one target. Read once, appended line by line, and compacted. */
export class SentLog {
  readonly #file: Pick<FeedFile<unknown>, 'lines' | 'append' | 'replaceLog'>;
  readonly #most: number;
  /** Last state of each id, oldest first. */
  #known: Map<string, 'try' | 'sent'> | undefined;
  #lines = 0;

  constructor(file: Pick<FeedFile<unknown>, 'lines' | 'append' | 'replaceLog'>, most = MAX_ALERTS) {
    this.#file = file;
    this.#most = most;
  }

  /** `try`: the process was killed after an attempt, so the target may have received it. Undefined for a new alert. */
  async stateOf(id: string): Promise<'try' | 'sent' | undefined> {
    return (await this.#read()).get(id);
  }

  /** Records an attempt or a delivery; durable on return. */
  async note(id: string, word: 'try' | 'sent'): Promise<void> {
    const known = await this.#read();
    await this.#file.append(`${word} ${id}`);
    this.#remember(known, id, word);
    if (this.#lines <= 4 * this.#most) return;
    await this.#file.replaceLog([...known].map(([each, state]) => `${state} ${each}`));
    this.#lines = known.size;
  }

  async #read(): Promise<Map<string, 'try' | 'sent'>> {
    if (this.#known !== undefined) return this.#known;
    const known = new Map<string, 'try' | 'sent'>();
    for await (const line of this.#file.lines()) {
      const [word, id = ''] = line.split(' ');
      this.#remember(known, id, word === 'sent' ? 'sent' : 'try');
    }
    this.#known = known;
    return known;
  }

  #remember(known: Map<string, 'try' | 'sent'>, id: string, word: 'try' | 'sent'): void {
    this.#lines++;
    known.delete(id);
    known.set(id, word);
    const [oldest] = known.keys();
    if (known.size > this.#most && oldest !== undefined) known.delete(oldest);
  }
}
