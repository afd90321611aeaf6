import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { jsonSchemaOf } from '../src/core/yaml.ts';
import { alertSchema } from '../src/feed/load-alerts.ts';
import { jobSchema } from '../src/jobs/job-schema.ts';
import { loadChecks, withDeclared } from '../src/marts/load-checks.ts';
import { loadMarts } from '../src/marts/load-marts.ts';
import { createProgram, withAllBelow } from '../src/cli/program.ts';
import { loadRegistry } from '../src/declare/registry.ts';
import { projectSchema } from '../src/project/project-file.ts';
import { projectMarkdown } from './project-docs.ts';
import { tonViews } from '../src/sql/ton-views.ts';
import { proofMarkdown } from './proof-docs.ts';
import { macros } from '../src/warehouse/relations/macros.ts';
import { macrosSql, martsMarkdown, sqlMarkdown, tonMarkdown } from './sql-docs.ts';
import { endpointsMarkdown, tablesMarkdown } from './reference-docs.ts';

/** docs/cli.md: the help of every command, as the program prints it. */
function cliMarkdown(program: Command): string {
  const parts = ['# Command line', '', 'Generated from the program by `npm run docs`.', ''];
  for (const command of withAllBelow(program).slice(1).filter(isVisible)) {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.configureHelp({ ...command.configureHelp(), helpWidth: 100 });
    command.outputHelp();
    parts.push(`${command.parent === program ? '##' : '###'} ${nameOf(command)}`, '', '```text', help.trimEnd(), '```', '');
  }
  return parts.join('\n');
}

function isVisible(command: Command): boolean {
  return command.parent?.createHelp().visibleCommands(command.parent).includes(command) === true;
}

/** `tonlake job run`. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

const registry = await loadRegistry();
const generated: Readonly<Record<string, string>> = {
  'docs/tables.md': tablesMarkdown(registry),
  'docs/proof.md': proofMarkdown(registry),
  'docs/endpoints.md': endpointsMarkdown(registry),
  'docs/alert.schema.json': jsonSchemaOf(alertSchema),
  'docs/job.schema.json': jsonSchemaOf(jobSchema),
  'docs/marts.md': martsMarkdown(await loadMarts(registry)),
  'docs/sql.md': sqlMarkdown(withDeclared(await loadChecks(registry), registry)),
  'sql/macros.sql': macrosSql(macros),
  'docs/ton.md': tonMarkdown(tonViews()),
  'docs/cli.md': cliMarkdown(createProgram()),
  'docs/project.md': projectMarkdown(),
  'docs/project.schema.json': jsonSchemaOf(projectSchema),
};

for (const [path, text] of Object.entries(generated)) {
  if (!process.argv.includes('--check')) await writeFile(path, text);
  else if ((await readFile(path, 'utf8').catch(() => '')) !== text) {
    process.stderr.write(`${path} is out of date: run npm run docs\n`);
    process.exitCode = 1;
  }
}
