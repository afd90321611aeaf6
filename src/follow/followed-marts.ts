import { formatError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { OpenExport } from '../export/open-export.ts';
import { BackgroundMarts } from '../marts/background-marts.ts';
import { loadMarts, type MartDef, withInputs } from '../marts/load-marts.ts';
import { pipelinesBehind } from '../marts/mart-inputs.ts';
import type { FollowEvent } from './follow-event.ts';

/** Marts that are rebuilt between rounds. */
export interface FollowedMarts {
  readonly all: readonly MartDef[];
  readonly chosen: readonly MartDef[];
}

/**
 * Chooses marts by name, and the marts that they read.
 *
 * @throws {UsageError} if a named mart reads rows that are not followed
 */
export async function chooseMarts(
  names: 'all' | readonly string[] | undefined,
  registry: Registry,
  pipelines: readonly PipelineDef[],
): Promise<FollowedMarts | undefined> {
  if (names === undefined || names.length === 0) return undefined;
  const all = await loadMarts(registry);
  if (names === 'all') return { all, chosen: all };
  const chosen = withInputs(all, names);
  const followed = new Set(pipelines.map(({ name }) => name));
  for (const mart of chosen) {
    const others = pipelinesBehind(registry, all, mart).filter((name) => !followed.has(name));
    if (others.length === 0) continue;
    throw usage(
      `${others.join(', ')} among the followed pipelines for the mart ${mart.name}`,
      undefined,
      suggest('follow', [...followed, ...others].join(' '), { marts: names.join(',') }),
    );
  }
  return { all, chosen };
}

export function openMarts(
  { registry, effects, session: { network } }: OpenExport,
  { all, chosen }: FollowedMarts,
  report: (event: FollowEvent) => void,
): BackgroundMarts {
  return new BackgroundMarts({
    marts: all,
    chosen,
    registry,
    network,
    effects,
    onEvent: report,
    onFailure: (mart, error) => report({ event: 'mart-failed', mart, message: formatError(error) }),
  });
}
