import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { packageFile } from '../core/own-package.ts';
import { readYaml } from '../core/yaml.ts';
import { readNamedFile } from '../files/named-file.ts';
import { type Fields, parseLayout } from './layout.ts';

/** A layout of bodies with a name. */
export interface NamedLayout {
  readonly name: string;
  /** First 32 bits of its bodies; undefined if they have none. */
  readonly opcode: number | undefined;
  /** All fields, the opcode too. */
  readonly fields: Fields;
}

const schema = z.record(
  z.string().regex(/^[a-z]\w*$/, 'a name that begins with a lower-case letter'),
  z.strictObject({
    opcode: z.number().int().min(0).max(0xffffffff).optional(),
    fields: z.string().default(''),
  }),
);

/** The layouts of a YAML file, by name. @throws {UsageError} with file, line and column */
function readLayouts(path: string, shown = path): readonly NamedLayout[] {
  const origin = { file: shown, line: 1, what: 'layout', docs: 'docs/sql.md' };
  const hint = '--layouts, or layouts in tonlake.yaml, is the path of a YAML file';
  const { value, yaml } = readYaml(readNamedFile(path, 'a file of layouts', hint), origin, schema);
  return Object.entries(value).map(([name, { opcode, fields: text }]) => {
    const place = yaml.placeOf([name, 'fields']);
    const own = text === '' ? [] : parseLayout(text, place);
    const op = { name: 'op', type: { kind: 'uint', bits: 32 }, equals: BigInt(opcode ?? 0) } as const;
    return { name, opcode, fields: opcode === undefined ? own : [op, ...own] };
  });
}

let shipped: ReadonlyMap<string, NamedLayout> | undefined;

/** The shipped layouts, and those of the user's file, which override them by name. */
export function namedLayouts(own?: string): ReadonlyMap<string, NamedLayout> {
  shipped ??= byName(
    readdirSync(packageFile('sql/layouts/'))
      .sort()
      .flatMap((file) => readLayouts(join(packageFile('sql/layouts/'), file), `sql/layouts/${basename(file)}`)),
  );
  return own === undefined ? shipped : new Map([...shipped, ...byName(readLayouts(own))]);
}

function byName(layouts: readonly NamedLayout[]): ReadonlyMap<string, NamedLayout> {
  return new Map(layouts.map((layout) => [layout.name, layout]));
}
