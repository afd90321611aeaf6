import * as z from 'zod';
import { didYouMean } from '../core/did-you-mean.ts';
import { UsageError } from '../core/errors.ts';
import { expectationOf, type YamlPath as Path, type PlacedYaml } from '../core/yaml.ts';
import { jobSchema } from './job-schema.ts';

/** A wrong value of a job file: `usage: expected X, got Y (jobs/a.yaml:7:3); hint: Z`. */
export function wrongValue(yaml: PlacedYaml, path: Path, expected: string, hint: string): UsageError {
  const got = yaml.textAt(path);
  return badJob(`expected ${expected}, got ${got} (${yaml.placeOf(path)})`, hint);
}

/** An unknown name, with the closest valid one as hint. */
export function wrongName(yaml: PlacedYaml, path: Path, what: string, choices: readonly string[]): UsageError {
  const hint =
    choices.length === 0
      ? `there is no ${what}`
      : `${didYouMean(yaml.textAt(path), choices)}There are: ${choices.join(', ')}`;
  return wrongValue(yaml, path, `a ${what}`, hint);
}

/** The error for a file that the schema refuses. An unknown key comes first, because it may explain a missing one. */
export function faultOf(yaml: PlacedYaml, error: z.ZodError): UsageError {
  const issue = error.issues.find(({ code }) => code === 'unrecognized_keys') ?? error.issues[0];
  if (issue === undefined) return badJob('expected a job', 'see docs/jobs.md');
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code === 'unrecognized_keys') return wrongKey(yaml, path, issue.keys[0] ?? '');
  const name = path.at(-1);
  const isAbsent = issue.code === 'invalid_type' && yaml.textAt(path) === 'nothing';
  if (isAbsent && typeof name === 'string') {
    return badJob(`expected the key ${name}, got nothing (${yaml.placeOf(path)})`, `add ${name}: see docs/jobs.md`);
  }
  return wrongValue(yaml, path, expectationOf(issue), `${label(path)}: ${describe(path)}`);
}

function wrongKey(yaml: PlacedYaml, path: Path, key: string): UsageError {
  const known = keysAt(path);
  return badJob(
    `expected a known key${path.length === 0 ? '' : ` of ${label(path)}`}, got ${JSON.stringify(key)} (${yaml.placeOfKey(path, key)})`,
    `${didYouMean(key, known)}There are: ${known.join(', ')}`,
  );
}

/** The keys that the schema knows at a path. */
function keysAt(path: Path): readonly string[] {
  const properties = schemaAt(path)?.['properties'];
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

function describe(path: Path): string {
  const text = schemaAt(path)?.['description'];
  return typeof text === 'string' ? lowerFirst(text) : 'see docs/jobs.md';
}

type JsonSchema = Readonly<Record<string, unknown>>;

function schemaAt(path: Path): JsonSchema | undefined {
  let at: JsonSchema | undefined = z.toJSONSchema(jobSchema, { io: 'input', target: 'draft-07' });
  for (const step of path) {
    const below: unknown =
      typeof step === 'number' ? at?.['items'] : isSchema(at?.['properties']) ? at['properties'][step] : undefined;
    at = isSchema(below) ? below : undefined;
  }
  return at;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function label(path: Path): string {
  return path.length === 0 ? 'the job' : path.map(String).join('.');
}

function lowerFirst(text: string): string {
  const first = text.split(/\.(?=\s|$)/, 1)[0] ?? text;
  return first.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}

function badJob(message: string, hint: string): UsageError {
  return new UsageError(`usage: ${message}`, { code: 'bad-job', hint });
}
