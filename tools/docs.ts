import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { endpointsMarkdown, tablesMarkdown } from '../src/describe.ts';
import { createProgram } from '../src/program.ts';
import { loadRegistry } from '../src/registry.ts';

/** docs/cli.md: the help of every command, as the program prints it. */
function cliMarkdown(program: Command): string {
  const parts = ['# Command line', '', 'Made from the program by `npm run docs`.', ''];
  for (const command of program.commands) {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.configureHelp({ helpWidth: 100 });
    command.outputHelp();
    parts.push(`## tonlake ${command.name()}`, '', '```text', help.trimEnd(), '```', '');
  }
  return parts.join('\n');
}

const registry = await loadRegistry();
const made: Readonly<Record<string, string>> = {
  'docs/tables.md': tablesMarkdown(registry),
  'docs/endpoints.md': endpointsMarkdown(registry),
  'docs/cli.md': cliMarkdown(createProgram()),
};

for (const [path, text] of Object.entries(made)) {
  if (!process.argv.includes('--check')) await writeFile(path, text);
  else if ((await readFile(path, 'utf8').catch(() => '')) !== text) {
    process.stderr.write(`${path} is not what the declarations say: run npm run docs\n`);
    process.exitCode = 1;
  }
}
