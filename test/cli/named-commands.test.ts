import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { loadRegistry } from '../../src/declare/registry.ts';

/** Commands of drafts, which no text may name. */
const GONE = /^(fetch|describe|files|explain|shell|plan|watch|mart|check|catalog|schedule|queue|worker)$/;

/** A command as a text of the product names it, up to the end of the text, or to what begins a new clause. */
interface Named {
  readonly place: string;
  readonly name: string;
  readonly rest: string;
}

/** Of a pipeline that has no range, by the code around it. */
const CHECKED = /^ \$\{name\}$/;

const program = createProgram();

/** All that texts in sources say after `tonlake`, and in files that are shipped for people. */
function named(folder: string, ending: RegExp): readonly Named[] {
  const root = new URL('../../', import.meta.url).pathname;
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .flatMap((file) =>
      readFileSync(join(root, folder, file), 'utf8')
        .split('\n')
        .filter((line) => !/^\s*(\*|\/\/|\/\*\*|import )/.test(line))
        .flatMap((line, at) =>
          [...line.replace(SUGGEST, spelled).matchAll(/(?<![\w/.@-])tonlake ([a-z]+)((?:\$\{[^}]*\}|[^`;\n])*)/g)].map(
            ([, name = '', rest = '']): Named => ({ place: `${folder}/${file}:${at + 1}`, name, rest: clause(rest) }),
          ),
        ),
    );
}

/** A call of `suggest`: its command, its words, and the names of its flags. */
const SUGGEST = /\bsuggest\(('[^']*')(?:, ('[^']*'|`[^`]*`|(?:[^{(),]|\([^()]*\))*))?(?:, (\{[^}]*\}|flags))?\)/g;

/** The command as `suggest` spells it. */
function spelled(_: string, command: string, words = '', flags = ''): string {
  const bare = words.replace(/^['`]|['`]$/g, '');
  const rest = /^['`]/.test(words) || words === '' ? bare : `\${${words}}`;
  const named = flags.split(',').flatMap((flag) => /^[\s{]*'?([\w-]+)/.exec(flag)?.[1] ?? []);
  const given = flags === 'flags' ? [flags] : named.map((name) => `--${name} x`);
  return `'tonlake ${[command.slice(1, -1), rest, ...given].join(' ')}'`;
}

/** Up to the next command, or what ends a text. */
function clause(rest: string): string {
  return rest.split(/(?<![\w/.@-])tonlake [a-z]|',|'$|"$|`/)[0] ?? '';
}

const TEXTS = [
  ...named('src', /(?<!completion-command)\.ts$/),
  ...named('sql', /\.(sql|md)$/),
  ...named('ui', /\.tsx?$/),
  ...named('pipelines', /\.ts$/),
];

function commandOf({ name, rest }: Named): Command | undefined {
  const top = program.commands.find((each) => each.name() === name);
  const [, below = ''] = /^ ([a-z]+)/.exec(rest) ?? [];
  return top?.commands.find((each) => each.name() === below) ?? top;
}

describe('a command that a text of the product names', () => {
  test('exists', () => {
    expect(TEXTS.length).toBeGreaterThan(150);
    expect(
      TEXTS.filter(({ name }) => GONE.test(name) && commandOf({ place: '', name, rest: '' }) === undefined),
    ).toEqual([]);
  });

  test('comes from the server, where the page shows it', () => {
    expect(named('ui', /\.tsx?$/).filter((text) => commandOf(text) !== undefined)).toEqual([]);
  });

  test('has each flag that stands with it', () => {
    const wrong = TEXTS.flatMap((text) => {
      const command = commandOf(text);
      if (command === undefined) return [];
      // Up to the end of a sentence.
      const [sentence = ''] = text.rest.split(/\. /);
      const flags = [...sentence.matchAll(/(?<= )(?:--[a-z][\w-]*|-[a-z])(?![\w-])/g)].map(([flag]) => flag);
      const known = new Set([...command.options.flatMap(({ long, short }) => [long, short]), '--help', '-h', '--all']);
      return flags.filter((flag) => !known.has(flag)).map((flag) => `${text.place}: tonlake ${text.name} ... ${flag}`);
    });
    expect(wrong).toEqual([]);
  });

  test('has a range, where it is a run of a pipeline that is exported for one', async () => {
    const registry = await loadRegistry();
    const whole = registry.pipelines.filter(({ walk }) => walk.kind === 'snapshot' && walk.parents === undefined);
    const free = new Set(whole.map(({ name }) => name));
    const pipelines = new Set(registry.pipelines.map(({ name }) => name));
    const without = TEXTS.filter(({ name, rest }) => {
      const [, first = ''] = /^ ([a-z_]+|\$\{)/.exec(rest) ?? [];
      const isHint = first === '${' || (pipelines.has(first) && !free.has(first));
      return name === 'run' && isHint && !/range|-r |flags/.test(rest) && !CHECKED.test(rest);
    });
    expect(without.map(({ place, rest }) => `${place}: tonlake run${rest}`)).toEqual([]);
  });
});
