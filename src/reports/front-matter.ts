import { usage } from '../core/errors.ts';
import { readYaml } from '../core/yaml.ts';
import { reservedParams } from './bind-params.ts';
import { type FrontMatter, frontSchema } from './report-definition.ts';

/** Front matter, and the first line of the Markdown after it, from 1. */
export interface ReadFront {
  readonly front: FrontMatter;
  readonly body: string;
  readonly line: number;
}

/** Reads the front matter of a report, between two lines of `---`. @throws {UsageError} `bad-report` */
export function readFront(text: string, file: string): ReadFront {
  const [whole, yamlText] = /^---\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m.exec(text) ?? [];
  if (whole === undefined || yamlText === undefined || !text.startsWith(whole)) {
    throw usage('front matter between two lines of ---', `none (${file}:1)`, {
      code: 'bad-report',
      hint: 'see docs/reports.md for an example',
    });
  }
  const origin = { file, line: 2, what: 'report', code: 'bad-report', docs: 'docs/reports.md' };
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
