import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

const architecture = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

function sectionOf(title: string): string {
  return architecture.split('\n## ').find((section) => section.startsWith(`${title}\n`)) ?? '';
}

interface Rule {
  readonly room: string;
  readonly places: readonly string[];
  /** Names of rooms, and single files. */
  readonly allowed: readonly string[];
  /** True if a place may import only those before it in its room. */
  readonly isOrdered: boolean;
}

/** The rows of the table under "Imports". */
function readRules(): readonly Rule[] {
  const rows = sectionOf('Imports')
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes('`'));
  const placesIn = (cell: string): string[] =>
    [...cell.matchAll(/`([^`]+\/[^`]*|[^`]+\.ts)`/g)].flatMap(([, place = '']) =>
      place === 'tonlake/pipeline' ? [] : [place],
    );
  const rules: Rule[] = [];
  for (const row of rows) {
    const [, room = '', what = '', may = ''] = row.split('|');
    const rooms = may.replace(/`[^`]*`/g, '').match(/[a-z]+/g) ?? [];
    const above = may.includes('all of the above') ? rules.map((rule) => rule.room) : [];
    rules.push({
      room: room.trim().split(' ')[0] ?? '',
      places: placesIn(what),
      allowed: [...rooms, ...above, ...placesIn(may)],
      isOrdered: may.includes('those before it'),
    });
  }
  return rules;
}

const files = ['src', 'pipelines'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

/** Files of the project that a file imports, also only for their types, or when they are needed. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), 'utf8').replace(/^\s*(\*|\/\/|\/\*\*).*$/gm, '');
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+|tonlake[^']*)'/g)].map(([, target = '']) =>
    target.startsWith('.') ? relative(root, resolve(root, dirname(file), target)) : target,
  );
}

/** How many letters of a file's path a place tells; 0 when the file is not in it. */
function matchLength(place: string, file: string): number {
  return file === place || (place.endsWith('/') && file.startsWith(place)) ? place.length : 0;
}

/** The room that a file is in, and which place of it. */
function roomOf(rules: readonly Rule[], file: string): { readonly rule: Rule; readonly index: number } | undefined {
  const [best] = rules
    .flatMap((rule) => rule.places.map((place, index) => ({ rule, index, length: matchLength(place, file) })))
    .filter(({ length }) => length > 0)
    .sort((a, b) => b.length - a.length);
  return best;
}

describe('tests that are skipped where something is missing', () => {
  const listed = Object.values<string[]>(
    JSON.parse(readFileSync(join(root, 'test/optional-tests.json'), 'utf8')),
  ).flat();
  const textOf = (file: string): string => readFileSync(join(root, 'test', file), 'utf8');

  test('stand in test/optional-tests.json, which .ci/run compares with what is skipped without anything', () => {
    const skipping = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts') && !/^(crash|soak)\//.test(file))
      .filter((file) => /\.(skipIf|runIf|skip)\(/.test(textOf(file)));
    const files = new Set(listed.map((line) => line.slice(0, line.indexOf(': '))));
    expect([...files].sort()).toEqual(skipping.sort());
  });

  test.each(listed)('%s', (line) => {
    const [file = '', words = ''] = line.split(': ');
    // The rest of a name may come from a template.
    expect(textOf(file)).toContain(words.slice(0, 10));
  });
});

test('tests that `npm test` leaves out use commands and options that docs/cli.md describes', () => {
  const cli = readFileSync(join(root, 'docs/cli.md'), 'utf8');
  // An option of Node.
  const isKnown = (word: string): boolean => word === '--import' || new RegExp(`\\b${word}\\b|\\s${word}\\b`).test(cli);
  const unknown = ['crash', 'soak'].flatMap((folder) =>
    readdirSync(join(root, 'test', folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.m?[jt]s$/.test(file))
      .flatMap((file) => {
        const text = readFileSync(join(root, 'test', folder, file), 'utf8');
        const options = [...text.matchAll(/'(--[a-z][a-z-]*)'/g)].map(([, option = '']) => option);
        const commands = [...text.matchAll(/\b[tT]onlake\(\[\s*'([a-z]+)'/g)].map(([, name]) => `tonlake ${name}`);
        return [...options, ...commands].filter((word) => !isKnown(word)).map((word) => `${file}: ${word}`);
      }),
  );
  expect(unknown).toEqual([]);
});

test('no test replaces a part of ours', () => {
  const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.ts$/.test(file),
  );
  const replaced = tests.flatMap((file) => {
    const text = readFileSync(join(root, 'test', file), 'utf8');
    const ours = [...text.matchAll(/import ([^;]+?) from '(?:\.\.?\/)+(?:src|pipelines)\//g)].flatMap(
      ([, names = '']) => names.match(/\w+/g) ?? [],
    );
    const spied = [...text.matchAll(/\bvi\.spyOn\(\s*(\w+)/g)].map(([, name = '']) => name);
    return [...spied.filter((name) => ours.includes(name)), ...(text.match(/\bvi\.(do)?[mM]ock\(/g) ?? [])].map(
      (name) => `${file}: ${name}`,
    );
  });
  expect(replaced).toEqual([]);
});

test('docs/testing.md names files that are there, and ten that are slow', () => {
  const text = readFileSync(join(root, 'docs/testing.md'), 'utf8');
  const named = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  const [, slowest = ''] = text.split('\n## The slowest files\n');
  expect(slowest.split('\n## ')[0]?.match(/^\| `test\//gm)).toHaveLength(10);
});

describe('the table of imports in docs/architecture.md', () => {
  const rules = readRules();

  test('has twelve rooms, one for each file', () => {
    expect(rules).toHaveLength(12);
    expect(files.filter((file) => file.startsWith('src/') && roomOf(rules, file) === undefined)).toEqual([]);
    const named = rules.flatMap(({ places, allowed }) => [...places, ...allowed.filter((name) => name.includes('/'))]);
    expect(named.filter((place) => !existsSync(join(root, place)))).toEqual([]);
  });

  test('is kept', () => {
    const mayImport = (file: string, target: string): boolean => {
      if (file.startsWith('pipelines/')) return target === 'tonlake/pipeline' || target.startsWith('pipelines/');
      const from = roomOf(rules, file);
      const to = roomOf(rules, target);
      if (from === undefined || to === undefined) return false;
      if (from.rule === to.rule) return !from.rule.isOrdered || to.index <= from.index;
      return from.rule.allowed.includes(to.rule.room) || from.rule.allowed.includes(target);
    };
    const broken = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => !mayImport(file, target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(broken).toEqual([]);
  });

  test('holds no circle of files', () => {
    /** Files whose imports are followed now, then those that lead to no circle. */
    const path: string[] = [];
    const clear = new Set<string>();
    const circleFrom = (file: string): readonly string[] => {
      if (clear.has(file)) return [];
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      path.push(file);
      for (const target of importsOf(file).filter((name) => files.includes(name))) {
        const circle = circleFrom(target);
        if (circle.length > 0) return circle;
      }
      path.pop();
      clear.add(file);
      return [];
    };
    expect(files.flatMap(circleFrom)).toEqual([]);
  });
});

describe('the door of the warehouse', () => {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');

  test('is small: at most 32 values, the rest are their types', async () => {
    expect(Object.keys(await import('../src/warehouse/index.ts')).length).toBeLessThanOrEqual(32);
  });

  test('exports nothing that no other folder imports', () => {
    const door = read('src/warehouse/index.ts').replace(/^\/\/.*$/gm, '');
    const exported = [...door.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) => list.match(/\w+/g) ?? []);
    const used = files
      .filter((file) => !file.startsWith('src/warehouse/'))
      .map(read)
      .filter((text) => text.includes('warehouse/index.ts'))
      .join('\n');
    const unused = exported.filter((name) => name !== 'type' && !new RegExp(`\\b${name}\\b`).test(used));
    expect(unused).toEqual([]);
  });

  test('stays shut to the worker thread, which loads what writes files and nothing else', () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      const text = read(file).replace(/^(import|export) type [^;]*;$/gm, '');
      for (const [, target = ''] of text.matchAll(/^(?:import|export)[^;]*?from '(\.[^']+)';$/gm)) {
        visit(relative(root, resolve(root, dirname(file), target)));
      }
    };
    visit('src/export/workers/loader-worker.ts');
    expect(reached.size).toBeGreaterThan(20);
    expect([...reached].filter((file) => file.startsWith('src/warehouse/')).sort()).toEqual([
      'src/warehouse/file-layout.ts',
      'src/warehouse/staging/order-check.ts',
      'src/warehouse/staging/row-folder.ts',
    ]);
  });
});

describe('what a third store has to write', () => {
  const section = sectionOf('What a third store has to write');

  test.each([
    ['store-driver.ts', 'StoreDriver'],
    ['writer.ts', 'Writer'],
    ['store.ts', 'EntryRows'],
    ['reader.ts', 'Reader'],
    ['damaged-store.ts', 'DamagedStore'],
  ])('names every member that %s asks of %s', (file, name) => {
    const source = readFileSync(join(root, 'src/warehouse', file), 'utf8');
    const [, body = ''] =
      new RegExp(`^export interface ${name}(?:\\s+extends[^{]*)? ?\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source) ?? [];
    const members = [...body.matchAll(/^ {2}(?:readonly )?(\w+)[(:]/gm)].map(([, member]) => member);
    expect(members.length).toBeGreaterThan(2);
    expect(members.filter((member) => !section.includes(`\`${member}\``))).toEqual([]);
  });

  test('names every file outside of the stores that tells one kind from another', () => {
    const telling = files.filter(
      (file) =>
        !/^src\/(sandbox|warehouse\/(parquet|duckdb)-store)\//.test(file) &&
        /(kind|store) [!=]== '(parquet|duckdb)'|\['parquet', 'duckdb'\]|'parquet' \| 'duckdb'/.test(
          readFileSync(join(root, file), 'utf8'),
        ),
    );
    expect(telling.length).toBeGreaterThan(5);
    expect(telling.map((file) => basename(file)).filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
    expect(telling.filter((file) => file.startsWith('src/verify/'))).toEqual([]);
  });
});

/** Folders and files that the table "Folders" of docs/architecture.md has a row for. */
function placesOfOverview(): readonly string[] {
  const firstCells = sectionOf('Folders')
    .split('\n')
    .map((line) => /^\| (`[^|]*)\|/.exec(line)?.[1] ?? '');
  return firstCells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, place = '']) => place));
}

describe('the picture of docs/architecture.md', () => {
  const [, picture = ''] = /```\n([\s\S]*?)```/.exec(architecture) ?? [];
  const name = String.raw`\[([a-z-]+)\]`;
  const arrows = [
    ...[...picture.matchAll(new RegExp(`(?<=${name}) --> ${name}`, 'g'))].map(([, from = '', to = '']) => ({
      from,
      to,
    })),
    // Branches leave from the folder above the bars.
    ...[...picture.matchAll(new RegExp(`\\+-+> ${name}`, 'g'))].map(([, to = '']) => ({ from: 'export', to })),
  ];

  test('shows folders that are there', () => {
    const names = [...picture.matchAll(new RegExp(name, 'g'))].map(([, folder = '']) => `src/${folder}/`);
    expect(names.length).toBeGreaterThan(12);
    expect(names.filter((place) => !placesOfOverview().includes(place))).toEqual([]);
  });

  test('has arrows where one folder imports another', () => {
    expect(arrows.length).toBeGreaterThan(10);
    const isKept = ({ from, to }: { from: string; to: string }): boolean =>
      files.some(
        (file) => file.startsWith(`src/${from}/`) && importsOf(file).some((target) => target.startsWith(`src/${to}/`)),
      );
    expect(arrows.filter((arrow) => !isKept(arrow))).toEqual([]);
  });
});

test.each(['architecture', 'design'])('every file that docs/%s.md names is there', (doc) => {
  const text = readFileSync(join(root, `docs/${doc}.md`), 'utf8');
  const names = [...text.matchAll(/`([\w./-]+\.(?:ts|sql|md|mjs))`/g)].map(([, path = '']) => path);
  const all = ['api', 'src', 'pipelines', 'sql', 'docs', 'test', 'tools', 'bench', 'wasm'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  );
  const isThere = (path: string): boolean =>
    all.some((file) => file === path || file.endsWith(`/${path}`)) || path === 'vitest.config.ts';
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((path) => !isThere(path))).toEqual([]);
});

test('the overview of docs/architecture.md has a row for every folder of src, and for nothing else there', () => {
  const places = readdirSync(join(root, 'src'), { withFileTypes: true }).map((entry) =>
    entry.isDirectory() ? `src/${entry.name}/` : `src/${entry.name}`,
  );
  expect(
    placesOfOverview()
      .filter((place) => place.startsWith('src/'))
      .sort(),
  ).toEqual(places.sort());
});

describe('names of files', () => {
  const inSrc = files.filter((file) => file.startsWith('src/')).map((file) => file.slice(0, -'.ts'.length));

  test('are in kebab-case', () => {
    const parts = inSrc.flatMap((file) => file.split('/'));
    expect(parts.filter((part) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part))).toEqual([]);
  });

  test('stand once, outside of the sandbox', () => {
    const names = inSrc.filter((file) => !file.startsWith('src/sandbox/')).map((file) => basename(file));
    const isRepeated = (name: string, at: number): boolean => names.indexOf(name) !== at && name !== 'index';
    expect(names.filter(isRepeated)).toEqual([]);
  });

  test('at the root of src are the two entries alone', () => {
    expect(inSrc.filter((file) => file.split('/').length === 2).sort()).toEqual(['src/cli', 'src/index']);
  });
});

test('only the command line reads the arguments of the process', () => {
  const readers = files.filter((file) =>
    /process\s*\.\s*(argv|execArgv|title)\b/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(readers.filter((file) => file !== 'src/cli.ts')).toEqual([]);
});

test('files stay short', () => {
  const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
  const written = texts.filter(({ text }) => !text.startsWith('// Generated from '));
  const lengths = written.map(({ file, text }) => ({ file, lines: text.split('\n').length }));
  expect(lengths.filter(({ lines }) => lines > 400)).toEqual([]);
  const sorted = lengths.map(({ lines }) => lines).sort((a, b) => a - b);
  expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(120);
});
