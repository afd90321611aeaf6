import { choicesFor } from '../core/did-you-mean.ts';
import { type UsageError, usage } from '../core/errors.ts';
import { readYaml } from '../core/yaml.ts';
import { reservedParams } from './bind-params.ts';
import {
  type Directive,
  type DirectiveKind,
  directiveSchemas,
  type FrontMatter,
  frontSchema,
  type ReportDef,
  type ReportPart,
  type SqlBlock,
} from './report-definition.ts';

interface Fence {
  readonly word: string;
  readonly id: string;
  readonly more: string;
  readonly text: string;
  /** Its lines in the body, from 0; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

const FENCES = ['sql', 'chart', 'table', 'figures'];

/**
 * Reads a report.
 * @param path of the file, for messages
 * @throws {UsageError} with file and line
 */
export async function parseReport(text: string, name: string, path: string): Promise<ReportDef> {
  const { front, body, line } = readFront(text, path);
  const lines = body.split('\n');
  const blocks: SqlBlock[] = [];
  const parts: ReportPart[] = [];
  const addProse = (from: number, to: number): void => {
    const prose = lines.slice(from, to).join('\n').trim();
    if (prose !== '') parts.push({ kind: 'prose', text: prose });
  };
  let at = 0;
  for (const fence of await findFences(body)) {
    addProse(at, fence.from);
    at = fence.to;
    const place = line + fence.from;
    if (fence.word === 'sql') blocks.push(readBlock(fence, place, path, blocks));
    else parts.push(readDirective(fence, place, path, blocks));
  }
  addProse(at, lines.length);
  if (!parts.some(({ kind }) => kind !== 'prose')) {
    throw usage('a chart, a table or figures', `none (${path}:${line})`, 'add ```table <id> below a ```sql <id>');
  }
  return { name, path, front, blocks, parts };
}

/** Front matter, and the first line of the Markdown after it, from 1. */
interface ReadFront {
  readonly front: FrontMatter;
  readonly body: string;
  readonly line: number;
}

/** Reads the front matter of a report, between two lines of `---`. @throws {UsageError} */
export function readFront(text: string, file: string): ReadFront {
  const [whole, yamlText] = /^---\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m.exec(text) ?? [];
  if (whole === undefined || yamlText === undefined || !text.startsWith(whole)) {
    throw usage('front matter between two lines of ---', `none (${file}:1)`, 'see docs/reports.md for an example');
  }
  const origin = { file, line: 2, what: 'report', docs: 'docs/reports.md' };
  const { value, yaml } = readYaml(yamlText, origin, frontSchema);
  for (const [name, param] of Object.entries(value.params ?? {})) {
    const path = ['params', name];
    const hint = 'see docs/reports.md for parameters';
    if (!/^[a-z][a-z0-9_]*$/.test(name))
      throw yaml.wrongValue(path, 'a name of lower-case letters, digits and _', hint, name);
    if (reservedParams.includes(name)) throw yaml.wrongValue(path, 'a name that is not reserved', hint, name);
    if ((param.choices === undefined) === (param.type === 'choice')) {
      throw yaml.wrongValue(path, 'choices for the type choice, and only for it', hint, param.type);
    }
    if (param.required === true && param.default !== undefined) {
      throw yaml.wrongValue(path, 'required or a default, not both', hint, 'both');
    }
  }
  return { front: value, body: text.slice(whole.length), line: whole.split('\n').length };
}

/** Fences of report blocks; others, such as examples, are prose. */
async function findFences(body: string): Promise<readonly Fence[]> {
  const { default: MarkdownIt } = await import('markdown-it');
  return new MarkdownIt({ html: false }).parse(body, {}).flatMap(({ type, info, content, map, level }) => {
    const [word = '', id = '', ...more] = info.trim().split(/\s+/);
    if (type !== 'fence' || level > 0 || map === null || !FENCES.includes(word)) return [];
    return [{ word, id, more: more.join(' '), text: content, from: map[0], to: map[1] }];
  });
}

function readBlock({ id, more, text }: Fence, line: number, path: string, before: readonly SqlBlock[]): SqlBlock {
  const bad = faultAt(path, line);
  if (!/^[a-z][a-z0-9_]*$/.test(id)) {
    throw bad('an id of lower-case letters, digits and _ after sql', id || 'none', '```sql busiest');
  }
  if (before.some((block) => block.id === id)) {
    throw bad('a unique id', `${id} twice`, 'choose another id');
  }
  if (text.trim() === '') throw bad('a select', 'nothing', 'write it between the fences');
  if (more !== '' && more !== 'variables') {
    throw bad(`nothing or variables after ${id}`, more, 'see docs/reports.md');
  }
  return { id, isVariables: more === 'variables', sql: text, line };
}

function readDirective(fence: Fence, line: number, path: string, blocks: readonly SqlBlock[]): Directive {
  const bad = faultAt(path, line);
  const { id, word, more, text } = fence;
  const ids = blocks.map((block) => block.id);
  if (!ids.includes(id)) {
    const hint = ids.length === 0 ? 'write ```sql <id> above it' : choicesFor(id, ids);
    throw bad(`the id of a select above after ${word}`, id || 'none', hint);
  }
  if (more !== '') throw bad(`nothing after ${id}`, more, 'keys go between the fences');
  const kind = word as DirectiveKind;
  const origin = { file: path, line: line + 1, what: word, docs: 'docs/reports.md' };
  switch (kind) {
    case 'chart':
      return { kind, of: id, line, def: readYaml(text, origin, directiveSchemas.chart).value };
    case 'table':
      return { kind, of: id, line, def: readYaml(text, origin, directiveSchemas.table).value };
    case 'figures': {
      const def = readYaml(text, origin, directiveSchemas.figures).value;
      if (def.before !== undefined && !ids.includes(def.before)) {
        throw bad('the id of a select above as before', def.before, choicesFor(def.before, ids));
      }
      return { kind, of: id, line, def };
    }
  }
}

/** Makes errors with the place of a block. */
function faultAt(path: string, line: number): (expected: string, got: string, hint: string) => UsageError {
  return (expected, got, hint) => usage(expected, `${got} (${path}:${line})`, hint);
}
