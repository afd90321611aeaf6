import { join } from 'node:path';
import type { Command } from 'commander';
import { shellWord } from '../../core/shell-word.ts';
import { suggest } from '../../core/suggest.ts';
import { type Context, inContext } from '../context.ts';
import { enterFolder } from '../invocation.ts';

const HELP = `
The project runs as it is, on the sandbox. Existing files are never replaced.

Examples:
  tonlake init lake
  cd lake && tonlake job run jobs/daily.yaml`;

/** `tonlake init`: a project to start from. */
export function addInit(program: Command): void {
  program
    .command('init')
    .summary('write a project to start from')
    .description('write a project to start from: a job, an alert, a mart, a report, settings')
    .argument('[folder]', 'folder of the project; created if needed', '.')
    .addHelpText('after', HELP)
    .action(inContext(init));
}

async function init({ print }: Context, folder: string): Promise<void> {
  const { createProject } = await import('../../project/create-project.ts');
  const paths = (await createProject(folder)).map((path) => join(folder, path));
  const enter = folder === '.' ? '' : `  cd ${shellWord(folder)}\n`;
  enterFolder(folder);
  print(
    paths,
    () => `${paths.join('\n')}\n\nNext (README.md has more):\n${enter}  ${suggest('job run', 'jobs/daily.yaml')}\n`,
  );
}
