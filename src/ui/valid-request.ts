import { zValidator } from '@hono/zod-validator';
import type * as z from 'zod';
import { UsageError } from '../core/errors.ts';

/** Lets requests pass that fit a schema. @throws {UsageError} `bad-request` */
export function valid<Target extends 'json' | 'query', Schema extends z.ZodType>(target: Target, schema: Schema) {
  return zValidator(target, schema, (result) => {
    if (result.success) return;
    const [issue] = result.error.issues;
    throw new UsageError(`${issue?.path.join('.')}: ${issue?.message}`, { code: 'bad-request' });
  });
}
