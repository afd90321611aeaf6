import { visible } from '../core/visible.ts';
import type { Alert } from './alert.ts';

const PLACEHOLDER = /\{([^{}]+)\}/g;
/** Maximum length of a value, in characters: comments on the chain can be long. */
const VALUE_LENGTH = 1000;
/** In some programs `@` starts a mention; a zero-width space after it prevents that. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '@': '@\u200b' };

/** Columns named in a message. */
export function columnsIn(message: string): readonly string[] {
  return [...message.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** The message for a row. Placeholders, markup and control characters in its values have no effect. */
export function messageOf(
  message: string,
  markup: NonNullable<Alert['escape']>,
  values: ReadonlyMap<string, string | undefined>,
): string {
  return message.replace(PLACEHOLDER, (_, name: string) => {
    const text = visible(shorten(values.get(name) ?? ''));
    return markup === 'html' ? text.replace(/[&<>@]/g, (letter) => ENTITIES[letter] ?? letter) : text;
  });
}

function shorten(text: string): string {
  const letters = [...text];
  return letters.length > VALUE_LENGTH ? `${letters.slice(0, VALUE_LENGTH - 1).join('')}…` : text;
}
