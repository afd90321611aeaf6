import { inspect } from 'node:util';

const REDACTED = '[redacted]';
/** A shorter value may stand in a body by chance: rows would be changed. */
const MIN_SECRET = 16;

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

  /** Replaces every occurrence of the value in a body: a source may echo the request. */
  redactBody(body: Buffer): Buffer {
    const forms = [this.#value, encodeURIComponent(this.#value), JSON.stringify(this.#value).slice(1, -1)];
    if (this.#value.length < MIN_SECRET || !forms.some((form) => body.includes(form, 0, 'latin1'))) return body;
    const text = forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), body.toString('latin1'));
    // Not from the pool of small buffers: bodies are moved to other threads.
    const clean = Buffer.alloc(text.length);
    clean.write(text, 'latin1');
    return clean;
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
