/** What a terminal shows after a text with the control sequences of the status line; lines without blanks at their ends. */
export function screenOf(text: string): readonly string[] {
  const lines: string[] = [''];
  let [row, column] = [0, 0];
  const put = (letter: string): void => {
    const line = (lines[row] ?? '').padEnd(column);
    lines[row] = line.slice(0, column) + letter + line.slice(column + 1);
    column++;
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
  for (const [part, digits, code] of text.matchAll(/\x1b\[\??(\d*)(?:;\d*)?([A-Za-z])|./gs)) {
    const count = Number(digits || 1);
    if (part === '\n') lines[++row] ??= '';
    else if (part === '\r') column = 0;
    else if (code === undefined) put(part);
    else if (code === 'A') row = Math.max(0, row - count);
    else if (code === 'G') column = Math.max(0, count - 1);
    else if (code === 'K') lines[row] = digits === '2' ? '' : (lines[row] ?? '').slice(0, column);
    else if (code === 'J') {
      lines[row] = (lines[row] ?? '').slice(0, column);
      lines.length = row + 1;
    } else if (!'hl'.includes(code)) throw new Error(`expected a known control sequence, got ${JSON.stringify(part)}`);
  }
  return lines.map((line) => line.trimEnd());
}
