import { jsonSchemaOf } from '../src/core/yaml.ts';
import { projectSchema } from '../src/project/project-file.ts';

const HEAD = `# Project file

Generated from the schema of \`tonlake.yaml\` by \`npm run docs\`; [project.schema.json](project.schema.json) is the same for editors.

\`tonlake init\` writes a \`tonlake.yaml\`. Every command reads the one in the current folder, or in the nearest folder above it. Flags win over
environment variables, and those over the file. Paths in the file are relative to it. An unknown key is an error that names its line.

\`\`\`yaml
network: mainnet
warehouse: s3://lake/mainnet
s3_endpoint: https://minio.example.org:9000
rps: 10
marts: marts
\`\`\`

The network and the warehouse of the file belong together: a command with \`--network\` of another network, or with \`--warehouse\`, uses
neither. Job files name their own network; without a warehouse, they use this one. Keys and passwords are never in the file: see the help
of \`tonlake run\`.

| key | meaning |
|---|---|
`;

interface Part {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Part>>;
}

/** docs/project.md: every key of the project file, with its description in the schema. */
export function projectMarkdown(): string {
  const rows = rowsOf(JSON.parse(jsonSchemaOf(projectSchema)), '');
  return `${HEAD}${rows.join('\n')}\n`;
}

function rowsOf({ properties = {} }: Part, prefix: string): readonly string[] {
  return Object.entries(properties).flatMap(([name, part]) =>
    part.properties === undefined
      ? [`| \`${prefix}${name}\` | ${part.description ?? ''} |`]
      : rowsOf(part, `${prefix}${name}.`),
  );
}
