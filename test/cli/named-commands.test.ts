import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';

/** Commands of drafts, which no text may name. */
const GONE = /^(fetch|describe|files|explain|shell|plan|watch|mart|check|catalog|schedule|queue|worker)$/;

/** A command as a text of the product names it, up to the end of the text, or to what begins a new clause. */
interface Named {
  readonly place: string;
  readonly name: string;
  readonly rest: string;
}

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
          [...line.matchAll(/(?<![\w/.@-])tonlake ([a-z]+)((?:\$\{[^}]*\}|[^`;\n])*)/g)].map(
            ([, name = '', rest = '']): Named => ({ place: `${folder}/${file}:${at + 1}`, name, rest: clause(rest) }),
          ),
        ),
    );
}

/** Up to the next command, or what ends a text. */
function clause(rest: string): string {
  return rest.split(/(?<![\w/.@-])tonlake [a-z]|',|'$|"$|`/)[0] ?? '';
}

const TEXTS = [...named('src', /\.ts$/), ...named('sql', /\.(sql|md)$/), ...named('ui', /\.tsx?$/), ...named('pipelines', /\.ts$/)];

function commandOf({ name, rest }: Named): Command | undefined {
  const top = program.commands.find((each) => each.name() === name);
  const [, below = ''] = /^ ([a-z]+)/.exec(rest) ?? [];
  return top?.commands.find((each) => each.name() === below) ?? top;
}

describe('a command that a text of the product names', () => {
  test('exists', () => {
    expect(TEXTS.length).toBeGreaterThan(150);
    expect(TEXTS.filter(({ name }) => GONE.test(name) && commandOf({ place: '', name, rest: '' }) === undefined)).toEqual([]);
  });

  test('has each flag that stands with it', () => {
    const wrong = TEXTS.flatMap((text) => {
      const command = commandOf(text);
      if (command === undefined) return [];
      const flags = [...text.rest.matchAll(/(?<= )--?[a-z][\w-]*/g)].map(([flag]) => flag);
      const known = new Set([...command.options.flatMap(({ long, short }) => [long, short]), '--help', '-h', '--all']);
      return flags.filter((flag) => !known.has(flag)).map((flag) => `${text.place}: tonlake ${text.name} ... ${flag}`);
    });
    expect(wrong).toEqual([]);
  });

  test('has what it requires: a run with pipelines has a range', () => {
    const without = TEXTS.filter(({ name, rest }) => name === 'run' && !/range|-r |\[\.\.\./.test(rest));
    expect(without.map(({ place, rest }) => `${place}: tonlake run${rest}`)).toEqual([]);
  });
});
