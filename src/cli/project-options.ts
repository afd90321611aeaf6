import type { Command, Option } from 'commander';
import { resolveNetwork } from '../http/network.ts';
import { type ProjectOptions, readProject } from '../project/project-file.ts';

/**
 * Gives a command what `tonlake.yaml` says, where neither a flag nor the environment says otherwise. The network, the warehouse and the
 * witness of a project belong together: a command for another network, or another warehouse, gets none of them.
 *
 * @returns what it says; undefined without a project
 */
export function applyProject(command: Command): ProjectOptions | undefined {
  const project = isAboutAPlace(command) ? readProject() : undefined;
  if (project === undefined) return undefined;
  const isElsewhere = isForAnother(command, project);
  for (const option of command.options) {
    const name = option.attributeName();
    const value = project[name];
    const isOfPlace = ['network', 'warehouse', 'witness'].includes(name);
    if (value === undefined || isGiven(command, name) || (isOfPlace && isElsewhere) || !takes(command, option))
      continue;
    command.setOptionValueWithSource(name, value, 'project');
    if (name === 's3Endpoint') process.env['AWS_ENDPOINT_URL_S3'] = String(value);
  }
  return project;
}

/** True for commands that read or write a warehouse, or send requests. Those of a job file have their own. */
function isAboutAPlace(command: Command): boolean {
  return command.options.some(({ long }) => long === '--network' || long === '--s3-endpoint');
}

function isGiven(command: Command, name: string): boolean {
  return ['cli', 'env'].includes(command.getOptionValueSource(name) ?? '');
}

function isForAnother(command: Command, { network }: ProjectOptions): boolean {
  const given = isGiven(command, 'network') ? command.getOptionValue('network') : process.env['TONLAKE_NETWORK'];
  const isOther = given !== undefined && given !== '' && nameOf(String(given)) !== nameOf(String(network ?? 'mainnet'));
  return isOther || isGiven(command, 'warehouse');
}

function nameOf(network: string): string {
  return resolveNetwork(network).name;
}

/** False for another option of the same name, and for the place of a publication that was not asked for. */
function takes(command: Command, option: Option): boolean {
  const name = option.attributeName();
  if (name === 'marts') return option.flags.includes('<folder>');
  const isOfCatalog = ['catalog', 'namespace', 'catalogWarehouse'].includes(name);
  const publishes = command.options.some((other) => other.attributeName() === 'publish');
  return !isOfCatalog || !publishes || command.getOptionValue('publish') !== undefined;
}
