import { readProject } from '../../project/project-file.ts';
import type { Reader } from '../reader.ts';

const NAMES = /\b(parse_boc|parse_boc_or_error|boc_hash|boc_depth|boc_to_text|opcode_of|decode_body)\s*\(/i;

/**
 * Lets a query call functions over bodies, which are loaded for such queries alone.
 * @param layouts file with layouts of the user's; default: that of the project
 * @returns the query with a function of its own for each layout
 * @throws {UsageError} `bad-layout`
 */
export async function defineBodies(reader: Pick<Reader, 'define'>, sql: string, layouts?: string): Promise<string> {
  if (!NAMES.test(sql)) {
    await reader.define([]);
    return sql;
  }
  const { bodyCallsIn } = await import('../../bodies/body-calls.ts');
  const calls = bodyCallsIn(sql, layouts ?? readProject()?.layouts);
  await reader.define(calls.functions);
  return calls.sql;
}
