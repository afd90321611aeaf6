import { expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { endpointsMarkdown } from '../../tools/reference-docs.ts';
import { readFacts } from '../facts.ts';

/** Each compares what it asked with the endpoints that it is named for: all pipelines, all pending endpoints, all endpoints. */
const TESTS_OVER_HTTP = ['test/pipelines/sandbox.test.ts', 'test/watch/watch.test.ts', 'test/cli/api-sandbox.test.ts'];

const registry = await loadRegistry();
const text = endpointsMarkdown(registry);
const rows = (text.split('\n\nIn addition')[0] ?? '').split('\n').filter((line) => /^\| (GET|POST) /.test(line));

test('docs/endpoints.md has 36 rows, each with a use, a client function and a test', () => {
  expect(rows).toHaveLength(36);
  for (const row of rows) {
    const [, , use, , client, file = ''] = row.split('|').map((cell) => cell.trim());
    expect(use).not.toBe('');
    expect(client).toMatch(/^`\w+`$/);
    expect(TESTS_OVER_HTTP).toContain(file);
  }
});

test('every pipeline stands in it', () => {
  for (const { name } of registry.pipelines) expect(text).toContain(`\`${name}\``);
});

test('its rows are those that the description of the API names', () => {
  const described =
    readFacts<readonly { readonly method: string; readonly path: string; readonly in_seed: boolean }[]>('endpoints');
  const wanted = described.filter(({ in_seed: isOwed }) => isOwed).map(({ method, path }) => `${method} \`${path}\``);
  const told = rows.map((row) => row.split('|')[1]?.trim());
  expect([...told].sort()).toEqual([...wanted].sort());
});
