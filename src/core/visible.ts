/** Shows control characters as escapes: comments on the chain may contain terminal sequences. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_C}]/gu, (character) =>
    JSON.stringify(character)
      .slice(1, -1)
      .replace(/^[^\\]$/, escaped),
  );
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
