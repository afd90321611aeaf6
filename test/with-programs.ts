import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freshFolder } from './scratch.ts';

const PROGRAMS = {
  cat: 'process.stdin.pipe(process.stdout)',
  mkdir: 'fs.mkdirSync(process.argv.at(-1), { recursive: true })',
};

/** An environment in which commands of docs and templates find what they pipe to on a machine with Node alone, too. */
export function withPrograms(): { readonly PATH: string } {
  const bin = freshFolder();
  for (const [name, code] of Object.entries(PROGRAMS)) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec '${process.execPath}' -e '${code}' -- "$@"\n`, { mode: 0o755 });
  }
  return { PATH: `${process.env['PATH']}${delimiter}${bin}` };
}
