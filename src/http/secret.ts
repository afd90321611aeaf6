import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/** A value that is only sent to the source; it prints as `[redacted]`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; only for the request header. */
  reveal(): string {
    return this.#value;
  }

  /** Replaces every occurrence of the value, also percent-encoded. */
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

/** Removes a secret from all strings of an error and its causes, in place. */
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
