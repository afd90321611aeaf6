import { alignColumns } from '../../core/format.ts';
import { type Endpoint, parametersOf } from '../endpoint.ts';
import { endpointNames, endpointOf } from '../endpoints.ts';
import { describeParameter, parameterMeanings } from '../parameter.ts';
import { describeRule } from './parameter-rules.ts';

/** One line per endpoint, by group. */
export function listEndpoints(): string {
  const all = endpointNames.map(endpointOf);
  const width = Math.max(...all.map(({ path }) => path.length - 1));
  const groups = [...new Set(all.map(({ group }) => group))];
  return groups
    .map((group) => {
      const lines = all.filter((endpoint) => endpoint.group === group).map((endpoint) => line(endpoint, width));
      return `${group}\n${lines.join('')}`;
    })
    .join('\n');
}

function line({ method, path, doc }: Endpoint, width: number): string {
  return `  ${path.slice(1).padEnd(width)} ${method.padEnd(4)}  ${doc}\n`;
}

/** An endpoint with its parameters and rules. */
export function describeEndpoint(endpoint: Endpoint): string {
  const parameters = Object.entries(parametersOf(endpoint));
  const rows = parameters.map(([name, parameter]) => {
    const notes = [describeParameter(parameter), parameter.note].filter((part) => part !== undefined).join('; ');
    return [`  ${name}`, notes];
  });
  const kinds = [...new Set(parameters.map(([, { kind }]) => kind))].filter((kind) => kind !== 'choice');
  const sections = [
    `${endpoint.method} ${endpoint.path}\n${endpoint.doc}\n`,
    rows.length === 0 ? 'No parameters.\n' : `Parameters\n${alignColumns(rows).join('\n')}\n`,
    ...(endpoint.rules.length === 0
      ? []
      : [`Rules\n${endpoint.rules.map((rule) => `  ${describeRule(rule)}\n`).join('')}`]),
    ...(kinds.length === 0
      ? []
      : [`Types\n${kinds.map((kind) => `  ${kind}: ${parameterMeanings[kind]}\n`).join('')}`]),
  ];
  return sections.join('\n');
}
