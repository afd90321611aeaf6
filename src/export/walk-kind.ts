// Types of a walk kind. `tonlake/pipeline` exports them, so nothing else is loaded with this file.

import type { Span } from '../core/span.ts';
import type { PipelineDef, PipelineOf } from '../declare/pipeline.ts';
import type { CustomWalk, WalkCode, WalkDef } from '../declare/walk.ts';
import type { BlockProblem, Prepare, SpanWalk } from './span-walk.ts';
import type { WalkContext } from './walk-context.ts';

export type { PageReport } from './span-loader.ts';
export type { EntryTerms, Round } from './span-walk.ts';
export type { WalkRequest } from './walk-request.ts';
export type { BlockProblem, Prepare, SpanWalk, WalkContext };

/** The code of a kind of walk. */
export interface WalkKind<Walk extends WalkDef = WalkDef> {
  /** Cuts missing blocks into spans, in order. Each span is planned when there is room for it, and committed by itself. */
  plan(context: WalkContext<PipelineOf<Walk>>, missing: readonly Span[]): Iterable<Prepare> | AsyncIterable<Prepare>;
  /**
   * Walks a single span, to replace an entry whose rows could still change, or are known to be wrong. Default: such entries stay until
   * their blocks are missing.
   */
  walkSpan?(context: WalkContext<PipelineOf<Walk>>, span: Span): SpanWalk | Promise<SpanWalk>;
  /** The pipeline with every column of the entries that a reading replaces. Default: as selected. */
  widen?(context: WalkContext<PipelineOf<Walk>>): PipelineDef;
}

/** A walk kind that pipelines name by `customWalk`. */
export type CustomKind = WalkCode & WalkKind<CustomWalk>;

/** Defines a walk kind; a file of the folder of pipelines exports one as default. */
export function defineWalk(kind: Omit<CustomKind, 'defines'>): CustomKind {
  return { ...kind, defines: 'walk' };
}
