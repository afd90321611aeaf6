/** A last column narrower than this is not wrapped: its lines would have a word each. */
const MIN_WIDTH = 24;

/** Text for standard output; fitted to its width if it is a terminal. */
export function fitTerminal(text: string, fit: (text: string, width: number) => string = fitColumns): string {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? fit(text, columns) : text;
}

/** Fits aligned columns, which are two blanks or more apart, into a width: the last one is wrapped. Words are not cut. */
export function fitColumns(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => (line.length > width ? fitLine(line, width) : line))
    .join('\n');
}

function fitLine(line: string, width: number): string {
  const gap = [...line.matchAll(/\S {2,}(?=\S)/g)].at(-1);
  const start = gap === undefined ? line.length - line.trimStart().length : gap.index + gap[0].length;
  if (start > width - MIN_WIDTH) return line;
  // The next lines of a paragraph show that they belong to it.
  const indent = ' '.repeat(start === 0 ? 2 : start);
  const [first = '', ...rest] = wrapWords(line.slice(start), width - indent.length);
  return [line.slice(0, start) + first, ...rest.map((words) => indent + words)].join('\n');
}

/** Fits paragraphs into a width. Lines that begin with a blank, such as examples, stay as they are. */
export function fitParagraphs(text: string, width: number): string {
  const fitLines = (lines: string): string =>
    wrapWords(lines.trim(), width).join('\n') + (lines.endsWith('\n') ? '\n' : '');
  return text
    .split('\n\n')
    .map((part) => part.replace(/^(?:\S.*\n?)+/gm, fitLines))
    .join('\n\n');
}

function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
