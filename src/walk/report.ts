import type { TonlakeError } from '../errors.ts';
import { explainRefusal } from '../flatten/explain.ts';
import type { RefusedRecord } from '../flatten/scan.ts';
import type { Span } from '../span.ts';
import type { WalkContext } from './context.ts';
import type { SpanWriter } from './spanwriter.ts';

/** Tells of a span that could not be brought in. */
export function reportProblem(context: WalkContext, span: Span, error: TonlakeError): void {
  const { code, message } = error;
  context.report({ event: 'problem', pipeline: context.pipeline.name, from: span.from, to: span.to, code, message });
}

/** Tells of fields that no column declares; they are kept in `_extra`. */
export function reportUnknown(context: WalkContext, unknown: ReadonlyMap<string, number>): void {
  for (const [field, count] of unknown) {
    context.report({ event: 'unknown-field', pipeline: context.pipeline.name, field, count });
  }
}

/** Explains refused records of a masterchain block and commits them to the quarantine. */
export async function keepRefused(
  context: WalkContext,
  writer: SpanWriter,
  seqno: number,
  request: string,
  refused: readonly RefusedRecord[],
): Promise<void> {
  const found = refused.map((record) => ({ ...explainRefusal(context.pipeline, record), raw: record.raw }));
  await keep(context, writer, seqno, request, found);
}

/** Commits a page that is no JSON, however often it was asked for, to the quarantine. */
export async function keepBroken(
  context: WalkContext,
  writer: SpanWriter,
  seqno: number,
  page: { readonly body: Buffer; readonly request: string },
  error: TonlakeError,
): Promise<void> {
  await keep(context, writer, seqno, page.request, [{ pointer: '', reason: error.message, raw: page.body.toString() }]);
}

interface Found {
  readonly pointer: string;
  readonly reason: string;
  readonly raw: string;
}

async function keep(
  context: WalkContext,
  writer: SpanWriter,
  seqno: number,
  request: string,
  found: readonly Found[],
): Promise<void> {
  const { pipeline, effects } = context;
  const foundAt = Math.floor(effects.now() / 1000);
  await writer.quarantine(
    seqno,
    found.map((record) => ({ pipeline: pipeline.name, seqno, request, ...record, foundAt })),
  );
  for (const { pointer, reason } of found) {
    context.report({ event: 'quarantine', pipeline: pipeline.name, seqno, pointer, reason });
  }
}
