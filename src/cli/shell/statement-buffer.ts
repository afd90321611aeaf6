import { endOfComment } from '../../sql/comments.ts';

/** Quotes, comments of a line and dollar quotes, whole or still open; the beginning of another comment; or a semicolon. */
const TOKEN = /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|--[^\r\n]*|\/\*|(\$\w*\$)[\s\S]*?(?:\1|$)|;/g;

/** Collects lines until a statement is complete: until a semicolon outside of quotes and comments. */
export class StatementBuffer {
  #text = '';

  get isEmpty(): boolean {
    return this.#text.trim() === '';
  }

  /** The beginning of the next statement. */
  get text(): string {
    return this.#text;
  }

  /** Adds a line. @returns the statements that it completes, without semicolons */
  add(line: string): readonly string[] {
    this.#text += `${line}\n`;
    const statements: string[] = [];
    let from = 0;
    TOKEN.lastIndex = 0;
    for (let found = TOKEN.exec(this.#text); found !== null; found = TOKEN.exec(this.#text)) {
      if (found[0] === '/*') TOKEN.lastIndex = endOfComment(this.#text, found.index) ?? this.#text.length;
      if (found[0] !== ';') continue;
      statements.push(this.#text.slice(from, found.index));
      from = found.index + 1;
    }
    this.#text = this.#text.slice(from);
    if (this.isEmpty) this.#text = '';
    return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
  }

  /** Drops the unfinished statement. @returns it */
  take(): string {
    const text = this.#text.trim();
    this.#text = '';
    return text;
  }
}
