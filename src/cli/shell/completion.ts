/** Names that the shell completes. */
export interface KnownNames {
  /** Columns by the name of their table, view or mart. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Names of functions. */
  readonly functions: readonly string[];
  /** Keywords of SQL, in lower case. */
  readonly keywords: readonly string[];
  /** Commands of the shell, with the dot, and the words that each takes. */
  readonly commands: ReadonlyMap<string, readonly string[]>;
}

/**
 * Completes the last word of a line, as `node:readline` asks for it.
 *
 * @param before earlier lines of the statement
 * @returns candidates, and the part of the line that they replace
 */
export function complete(line: string, before: string, known: KnownNames): [candidates: string[], word: string] {
  const [, command, argument] = /^\s*(\.\w*)(?:\s+(\S*))?$/.exec(before.trim() === '' ? line : '') ?? [];
  if (command !== undefined && argument === undefined) return startingWith([...known.commands.keys()], command);
  if (command !== undefined) {
    return startingWith(known.commands.get(command) ?? [], argument ?? '');
  }
  const [word = ''] = /[\w.]*$/.exec(line) ?? [];
  const [, alias, part] = /^(.*)\.(\w*)$/.exec(word) ?? [];
  const named = [...known.columns.keys()].filter((table) => new RegExp(`\\b${table}\\b`, 'i').test(`${before}${line}`));
  const columnsOf = (tables: readonly string[]): readonly string[] =>
    tables.flatMap((table) => known.columns.get(table) ?? []);
  if (alias !== undefined && part !== undefined) {
    const own = known.columns.get(alias.toLowerCase()) ?? columnsOf(named);
    const [candidates] = startingWith(own, part);
    return [candidates, part];
  }
  if (/\b(from|join|describe|table)\s+\w*$/i.test(line)) return startingWith([...known.columns.keys()], word);
  if (word === '') return [[], word];
  return startingWith([...columnsOf(named), ...known.columns.keys(), ...known.functions, ...known.keywords], word);
}

function startingWith(names: readonly string[], word: string): [string[], string] {
  const start = word.toLowerCase();
  return [[...new Set(names)].filter((name) => name.toLowerCase().startsWith(start)), word];
}
