import { visible } from '../core/visible.ts';
import type { Alert } from './alert.ts';

const PLACEHOLDER = /\{([^{}]+)\}/g;
/** Most characters of a value: comments on the chain can be long. */
const VALUE_LENGTH = 1000;
/** `@` begins a mention in some programs: a character without width keeps it from that. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '@': '@\u200b' };

/** Columns that a message names. */
export function columnsIn(message: string): readonly string[] {
  return [...message.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** The message of a row. Values are texts: what looks like a column, markup or a control character in them stays what it is. */
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
