import { z } from 'zod';
import { UsageError } from '../core/errors.ts';
import { present } from '../core/present.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { Selection } from '../declare/selection.ts';
import { serializePipeline } from '../declare/stored-declaration.ts';

/** Increased when orders or results change: workers refuse orders of another format. */
export const ORDER_FORMAT = 2;

const span = z.object({ from: z.int().nonnegative(), to: z.int().nonnegative() });
const names = z.array(z.string()).optional();

/** What a run asks of a worker: the blocks of some pipelines, proven. */
const orderSchema = z.object({
  format: z.literal(ORDER_FORMAT),
  /** Version of tonlake. */
  version: z.string(),
  /** Identifier of the declaration of each pipeline, in the order of the run. */
  declarations: z.record(z.string(), z.string()),
  pipelines: z.array(z.string()),
  span,
  walk: z.enum(['auto', 'window', 'masterchain']).optional(),
  without: names,
  columns: z.record(z.string(), z.array(z.string())).optional(),
  withoutColumns: names,
});

export type WorkOrder = z.infer<typeof orderSchema>;

/** What a worker answers. `part`: name of the folder with the rows; absent if the worker has committed them. */
export const workResult = z.object({
  part: z
    .string()
    .regex(/^[\w-]+$/)
    .optional(),
  requests: z.number(),
  retries: z.number(),
});

export type WorkResult = z.infer<typeof workResult>;

const formatSchema = z.object({ format: z.number(), version: z.string() });

/** The order of a job. @throws {UsageError} `other-version` if another version of tonlake wrote it */
export function parseOrder(value: unknown, version: string): WorkOrder {
  const written = formatSchema.safeParse(value).data;
  if (written?.format !== ORDER_FORMAT || written.version !== version) throw otherVersion(written?.version, version);
  return orderSchema.parse(value);
}

function otherVersion(asked: string | undefined, own: string): UsageError {
  const by = asked === undefined ? 'another version' : `tonlake ${asked}`;
  return new UsageError(`usage: expected a worker of the version that asks, ${by}, got tonlake ${own}`, {
    code: 'other-version',
    hint: 'install the same version on all machines',
  });
}

/** Identifiers of the declarations of some pipelines. */
export function declarationsOf(
  pipelines: readonly PipelineDef[],
  registry: Registry,
): Readonly<Record<string, string>> {
  return Object.fromEntries(pipelines.map(({ name }) => [name, serializePipeline(registry.pipeline(name)).id]));
}

/** @throws {UsageError} `other-declaration` if this machine declares a pipeline otherwise than the run that asks, or not at all */
export function requireSameDeclarations({ declarations }: WorkOrder, registry: Registry): void {
  for (const [name, id] of Object.entries(declarations)) {
    const own = registry.pipelines.find((pipeline) => pipeline.name === name);
    if (own !== undefined && serializePipeline(own).id === id) continue;
    const got = own === undefined ? 'none' : 'another';
    throw new UsageError(`usage: expected the declaration of ${name} that the asking run has, got ${got}`, {
      code: 'other-declaration',
      hint: 'start the worker with the same --pipelines folder',
    });
  }
}

/** The selection of an order, as options of a run. */
export function selectionOf({ without, columns, withoutColumns }: Selection): Selection {
  return present({ without, columns, withoutColumns });
}
