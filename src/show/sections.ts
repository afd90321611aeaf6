import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shippedFolder } from '../sql/shipped-queries.ts';
import type { Thing } from './shown-thing.ts';

/** A question about a thing: a file of `sql/show`. */
export interface SectionDef {
  readonly title: string;
  /** Tables that must be in the warehouse. */
  readonly needs: readonly string[];
  /** With `$thing` for the thing. */
  readonly sql: string;
}

/** The questions about things of a kind, in the order of their answers; `name` has the one that finds the account of a name. */
export async function loadSections(kind: Thing['kind'] | 'name'): Promise<readonly SectionDef[]> {
  const folder = join(shippedFolder('show'), kind);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(files.map(async (file) => parseSection(await readFile(join(folder, file), 'utf8'))));
}

function parseSection(text: string): SectionDef {
  const [, title = '', needs = '', sql = ''] = /^-- (.+)\n-- needs: (.+)\n([\s\S]+)$/.exec(text) ?? [];
  return { title, needs: needs.split(', '), sql };
}
