import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { jsonSchemaOf } from '../../src/core/yaml.ts';
import { openJob } from '../../src/jobs/check-job.ts';
import { jobSchema } from '../../src/jobs/job-schema.ts';
import { NIGHT } from './support.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'pipelines/jobs');
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const schema: unknown = JSON.parse(jsonSchemaOf(jobSchema));
const validate = new Ajv({
  allErrors: true,
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  formats: { uri: true },
}).compile(typeof schema === 'object' && schema !== null ? schema : {});
const HEAD = 'network: sandbox\npipelines: [blocks]\nrange: yesterday\n';

describe.each(files)('pipelines/jobs/%s', (name) => {
  const text = readFileSync(join(folder, name), 'utf8');

  test('tells editors where its schema is', () => {
    const [, path = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
    expect(resolve(folder, path)).toBe(join(root, 'docs/job.schema.json'));
  });

  test('is as the schema and the program want it', async () => {
    expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true);
    const job = await openJob(join(folder, name), { now: NIGHT });
    expect(job.doc).toMatch(/\.$/);
    expect(dirname(job.file)).toBe(folder);
  });
});

describe('the schema for editors', () => {
  test('is the one in docs', () => {
    expect(readFileSync(join(root, 'docs/job.schema.json'), 'utf8')).toBe(jsonSchemaOf(jobSchema));
  });

  test.each([
    ['a key that is not known', `${HEAD}pipline: x`],
    ['a list that is a word', HEAD.replace('[blocks]', 'blocks')],
    ['an export of two things', `${HEAD}exports: [{table: blocks, query: select 1, output: a.csv}]`],
    ['an export of nothing', `${HEAD}exports: [{output: a.csv}]`],
    ['a notice that goes nowhere', `${HEAD}notify: [{on: failure}]`],
    ['a format that is none', `${HEAD}reports: [{report: account, output: a, format: pdf}]`],
    ['a catch-up that is too much', `${HEAD}schedule: {cron: 15 3 * * *, catch_up: 400}`],
    ['no network', 'range: yesterday'],
  ])('refuses %s, as the program does', async (_, text) => {
    expect(validate(parse(text))).toBe(false);
  });

  test('describes every key, and allows no other', () => {
    const bare = (node: unknown, path: string): readonly string[] => {
      if (typeof node !== 'object' || node === null) return [];
      const { properties, additionalProperties } = { properties: {}, additionalProperties: undefined, ...node };
      const open = 'properties' in node && additionalProperties !== false ? [`${path} is open`] : [];
      const mute = Object.entries(properties ?? {})
        .filter(([, value]) => typeof value !== 'object' || value === null || !('description' in value))
        .map(([key]) => `${path}/${key}`);
      return [...open, ...mute, ...Object.entries(node).flatMap(([key, value]) => bare(value, `${path}/${key}`))];
    };
    expect(bare(schema, '')).toEqual([]);
    expect(JSON.stringify(schema).match(/"description"/g)?.length).toBeGreaterThan(25);
  });
});
