import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/** A value that must reach the source and nobody else: it prints as `[redacted]` wherever it turns up. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; only for the request header. */
  reveal(): string {
    return this.#value;
  }

  /** The text with every occurrence of the value replaced, also where it stands percent-encoded. */
  redact(text: string): string {
    return text.replaceAll(this.#value, REDACTED).replaceAll(encodeURIComponent(this.#value), REDACTED);
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}

/** Takes a secret out of everything an error and its causes say; the error stays the same object. */
export function scrubError(error: unknown, secret: Secret): void {
  const seen = new Set<unknown>();
  for (let link = error; link instanceof Error && !seen.has(link); link = link.cause) {
    seen.add(link);
    for (const key of Object.getOwnPropertyNames(link)) {
      const value: unknown = Reflect.get(link, key);
      if (typeof value !== 'string') continue;
      const clean = secret.redact(value);
      if (clean !== value) Object.defineProperty(link, key, { value: clean });
    }
  }
}
