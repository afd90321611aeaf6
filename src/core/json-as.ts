import type * as z from 'zod';

/** The value of a JSON text in the form of a schema; undefined for anything else. */
export function jsonAs<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
