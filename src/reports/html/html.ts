/** Escaped HTML. Only `html` and `trusted` create it, so everything else is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | undefined | readonly (string | number | Html | undefined)[];

/** A template tag that escapes values unless they are `Html`; lists are joined, undefined is empty. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const text = strings.map((part, at) => part + (at < parts.length ? textOf(parts[at]) : '')).join('');
  return new Html(text);
}

/** Marks text that is already safe HTML. */
export function trusted(text: string): Html {
  return new Html(text);
}

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'string' || typeof part === 'number' ? escapeHtml(String(part)) : part.map(textOf).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Safe between tags and inside quoted attributes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
