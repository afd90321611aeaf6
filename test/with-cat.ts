import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freshFolder } from './scratch.ts';

/** An environment in which the commands of docs find `cat` on a machine with Node alone, too. */
export function withCat(): { readonly PATH: string } {
  const bin = freshFolder();
  const code = 'process.stdin.pipe(process.stdout)';
  writeFileSync(join(bin, 'cat'), `#!/bin/sh\nexec '${process.execPath}' -e '${code}'\n`, { mode: 0o755 });
  return { PATH: `${process.env['PATH']}${delimiter}${bin}` };
}
