import { endsOfStatements } from '../../sql/statements.ts';

/** Collects lines until a statement is complete: until a semicolon outside of quotes and comments. */
export class StatementBuffer {
  readonly #keepsLines: boolean;
  #text = '';
  /** Lines before the text. */
  #linesBefore = 0;

  /** @param options `keepsLines`: empty lines stand for those before a statement, so that errors name the line of the script. Default false */
  constructor({ keepsLines = false }: { readonly keepsLines?: boolean } = {}) {
    this.#keepsLines = keepsLines;
  }

  get isEmpty(): boolean {
    return this.#text.trim() === '';
  }

  /** The beginning of the next statement. */
  get text(): string {
    return this.#text;
  }

  /** Counts a line that belongs to no statement. */
  passLine(): void {
    this.#linesBefore++;
  }

  /** Adds a line. @returns the statements that it completes, without semicolons */
  add(line: string): readonly string[] {
    this.#text += `${line}\n`;
    const statements: string[] = [];
    let from = 0;
    for (const end of endsOfStatements(this.#text)) {
      statements.push(this.#statement(from, end));
      from = end + 1;
    }
    this.#drop(from);
    if (this.isEmpty) this.#drop(this.#text.length);
    return statements.filter((statement) => statement !== '');
  }

  /** Drops the unfinished statement. @returns it */
  take(): string {
    const text = this.#statement(0, this.#text.length);
    this.#drop(this.#text.length);
    return text;
  }

  #statement(from: number, to: number): string {
    const statement = this.#text.slice(from, to).trim();
    if (!this.#keepsLines || statement === '') return statement;
    const start = this.#text.indexOf(statement, from);
    return `${'\n'.repeat(this.#linesBefore + countLines(this.#text.slice(0, start)))}${statement}`;
  }

  #drop(to: number): void {
    this.#linesBefore += countLines(this.#text.slice(0, to));
    this.#text = this.#text.slice(to);
  }
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}
