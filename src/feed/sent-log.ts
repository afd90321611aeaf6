import type { FeedFile } from './feed-file.ts';

/** Alerts that are remembered. If the rows of older ones are read again, they are sent again. */
const REMEMBERED = 50_000;

/** What became of the newest alerts to one target. It is read once, and written line by line; old lines are removed. */
export class SentLog {
  readonly #file: Pick<FeedFile<unknown>, 'lines' | 'append' | 'replaceLog'>;
  readonly #most: number;
  /** The last word about each id, oldest first. */
  #known: Map<string, 'try' | 'sent'> | undefined;
  #lines = 0;

  constructor(file: Pick<FeedFile<unknown>, 'lines' | 'append' | 'replaceLog'>, most = REMEMBERED) {
    this.#file = file;
    this.#most = most;
  }

  /** `try`: a kill came after an attempt, so that the target may have taken it. Undefined for an alert that is new. */
  async stateOf(id: string): Promise<'try' | 'sent' | undefined> {
    return (await this.#read()).get(id);
  }

  /** Notes an attempt, or that the target has taken it. The line stays after a crash of the machine. */
  async note(id: string, word: 'try' | 'sent'): Promise<void> {
    const known = await this.#read();
    await this.#file.append(`${word} ${id}`);
    this.#remember(known, id, word);
    if (this.#lines <= 4 * this.#most) return;
    await this.#file.replaceLog([...known].map(([each, said]) => `${said} ${each}`));
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
