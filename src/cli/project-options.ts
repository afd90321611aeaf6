import type { Command, Option } from 'commander';
import { resolveNetwork } from '../http/network.ts';
import { type ProjectOptions, readProject } from '../project/project-file.ts';

/**
 * Sets options from `tonlake.yaml` that neither a flag nor the environment sets. The network, the warehouse and the
 * witness of a project belong together: a command for another network, or another warehouse, gets none of them.
 *
 * @returns the options of the file; undefined without a project
 */
export function applyProject(command: Command): ProjectOptions | undefined {
  const project = usesProject(command) ? readProject() : undefined;
  if (project === undefined) return undefined;
  const isElsewhere = isForOtherPlace(command, project);
  for (const option of command.options) {
    const name = option.attributeName();
    const value = project[name];
    const isOfPlace = ['network', 'warehouse', 'witness'].includes(name);
    if (value === undefined || isGiven(command, name) || (isOfPlace && isElsewhere) || !accepts(command, option))
      continue;
    command.setOptionValueWithSource(name, value, 'project');
    if (name === 's3Endpoint') process.env['AWS_ENDPOINT_URL_S3'] = String(value);
  }
  return project;
}

/** True for commands that read or write a warehouse, or send requests. Those of a job file have their own. */
function usesProject(command: Command): boolean {
  return command.options.some(({ long }) => long === '--network' || long === '--s3-endpoint');
}

function isGiven(command: Command, name: string): boolean {
  return ['cli', 'env'].includes(command.getOptionValueSource(name) ?? '');
}

function isForOtherPlace(command: Command, { network }: ProjectOptions): boolean {
  const given = isGiven(command, 'network') ? command.getOptionValue('network') : process.env['TONLAKE_NETWORK'];
  const isOther = given !== undefined && given !== '' && nameOf(String(given)) !== nameOf(String(network ?? 'mainnet'));
  return isOther || isGiven(command, 'warehouse');
}

function nameOf(network: string): string {
  return resolveNetwork(network).name;
}

/** False for another option of the same name, and for the catalog if the command does not publish. */
function accepts(command: Command, option: Option): boolean {
  const name = option.attributeName();
  if (name === 'marts') return option.flags.includes('<folder>');
  const isOfCatalog = ['catalog', 'namespace', 'catalogWarehouse'].includes(name);
  const publishes = command.options.some((other) => other.attributeName() === 'publish');
  return !isOfCatalog || !publishes || command.getOptionValue('publish') !== undefined;
}
