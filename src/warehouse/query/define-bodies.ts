import type { BodyCalls } from '../../bodies/body-calls.ts';
import { UsageError } from '../../core/errors.ts';
import { readProject } from '../../project/project-file.ts';
import type { Reader } from '../reader.ts';

const NAMES = /\b(parse_boc|parse_boc_or_error|boc_hash|boc_depth|boc_to_text|opcode_of|decode_body)\s*\(/i;

/** Functions of {@link NAMES} that read layouts. */
const WITH_LAYOUTS = /\b(parse_boc|parse_boc_or_error|decode_body)\s*\(/i;

/** True if a file of layouts may change what a select does. */
export function usesLayouts(sql: string): boolean {
  return WITH_LAYOUTS.test(sql);
}

/** The source of a select that may call functions over bodies. */
interface Origin {
  /** File with the user's layouts. Default: that of the project. */
  readonly layouts?: string | undefined;
  /** File of the select, for messages. */
  readonly path?: string | undefined;
}

/**
 * A select with a separate function for each layout, and the functions over bodies that it calls. They are loaded only for such selects.
 * @throws {UsageError}
 */
export async function bodyCalls(sql: string, { layouts, path }: Origin = {}): Promise<BodyCalls> {
  if (!NAMES.test(sql)) return { sql, functions: [] };
  const { bodyCallsIn } = await import('../../bodies/body-calls.ts');
  try {
    return bodyCallsIn(sql, layouts ?? readProject()?.layouts);
  } catch (error) {
    if (path === undefined || !(error instanceof UsageError)) throw error;
    throw error.with({ problem: `${error.problem} (${path})` });
  }
}

/** Lets a reader run a select with its {@link bodyCalls}. @returns the select to run */
export async function defineBodies(reader: Pick<Reader, 'define'>, sql: string, origin?: Origin): Promise<string> {
  const calls = await bodyCalls(sql, origin);
  await reader.define(calls.functions);
  return calls.sql;
}
