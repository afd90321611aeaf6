import { counted, formatCount, formatDuration } from '../core/format.ts';
import { formatSpans, shortSpans, subtractSpans, unionSpans } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { coversBlocks } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { martNamed } from '../marts/commit-mart.ts';
import { describeUnproven, spansIn } from '../warehouse/query/coverage.ts';
import { nameSome } from '../warehouse/query/left-out-gaps.ts';
import { type Finding, formatFinding } from './finding.ts';
import type { RepairOptions } from './repair.ts';
import type { VerifyEvent, VerifyReport } from './verify.ts';

interface Shown extends Pick<RepairOptions, 'warehouse' | 'range'> {
  readonly registry: Registry;
  /** Prints a value as JSON or as text, in which the user can paste commands. */
  readonly print: <T>(value: T, textOf: (value: T) => string) => void;
}

/** Maximum number of spans that a suggested command lists. */
const MAX_SPANS = 8;

/** Prints the events of a verification, as JSON lines or as text with suggested commands. */
export function showVerify(shown: Shown): Required<Pick<RepairOptions, 'onEvent' | 'onProblem'>> {
  const findings: Finding[] = [];
  return {
    onEvent: (event) => {
      if (event.event === 'finding') findings.push(event);
      const next = event.event === 'verified' ? nextSteps(event, findings, shown) : '';
      shown.print(event, () => `${formatEvent(event)}\n${next}`);
    },
    onProblem: (event) =>
      shown.print(event, () =>
        event.event === 'problem'
          ? `${event.message}\n`
          : `decode ${event.pipeline} ${event.seqno}: ${event.reason} at ${event.pointer}\n`,
      ),
  };
}

function formatEvent(event: VerifyEvent): string {
  switch (event.event) {
    case 'finding':
      return formatFinding(event);
    case 'repaired': {
      const how = event.refetched.length === 0 ? 'from intact rows' : `fetched again: ${shortSpans(event.refetched)}`;
      return `repaired ${event.pipeline} ${shortSpans([event.span])}: ${how} (${formatCount(event.requests)} requests)`;
    }
    case 'verified':
      return formatReport(event);
  }
}

function formatReport(report: VerifyReport): string {
  const { proven, findings, spans, unproven, files, edges, content, requests, seconds } = report;
  const shown = (all: VerifyReport['spans']): readonly string[] =>
    Object.entries(all)
      .filter(([, list]) => list.length > 0)
      .map(([pipeline, list]) => `${pipeline} ${shortSpans(list)}`);
  const done = shown(
    Object.fromEntries(
      Object.entries(spans).map(([pipeline, list]) => [
        pipeline,
        subtractSpans(list, spansIn(unproven[pipeline] ?? [])),
      ]),
    ),
  );
  const read = describeUnproven(unproven);
  const found = counted(findings, 'finding');
  const asked = requests === undefined ? '' : `, ${formatCount(requests)} requests`;
  const lines = [
    `${proven ? 'proven' : 'NOT proven'}: ${done.join('; ') || 'nothing'} in ${report.warehouse} (${found}, ${formatCount(files)} files${asked}, ${formatDuration(seconds)})`,
  ];
  if (read.length > 0) lines.push(`  unproven: ${read.join('; ')}`);
  if (Object.values(unproven).some((parts) => spansIn(parts, 'not final').length > 0))
    lines.push('  rows that are not final are read again by run and follow');
  const crossing = Object.entries({
    'links to earlier blocks': edges.linksBefore,
    'transactions after others outside the range': edges.transactionsBefore,
    'messages sent outside the range': edges.messagesBefore,
    'messages received outside the range': edges.messagesAfter,
    'messages created by the protocol': edges.messagesMinted,
  }).flatMap(([what, count]) => (count === undefined || count === 0 ? [] : [`${formatCount(count)} ${what}`]));
  if (crossing.length > 0) lines.push(`  across the edges: ${crossing.join(', ')}`);
  for (const { audit, without, missing } of report.unchecked)
    lines.push(`  not checked in ${shortSpans(missing)}: ${audit}, exported without ${nameSome(without)}`);
  for (const [table, { rows, hash }] of Object.entries(content ?? {}))
    lines.push(`  ${table}: ${formatCount(rows)} rows, content ${hash}`);
  return lines.join('\n');
}

/** Suggested commands and other remedies, one per line. A repair has reported damage that it could not repair. */
export function nextSteps(
  { network, requests, spans }: Pick<VerifyReport, 'network' | 'requests' | 'spans'>,
  findings: readonly Finding[],
  { warehouse, range, registry }: Pick<Shown, 'warehouse' | 'range' | 'registry'>,
): string {
  const undone = findings.filter(({ kind, entry }) => kind === 'not-done' && entry === undefined);
  const missing = undone.filter(({ pipeline }) => martNamed(pipeline) === undefined);
  const foreign = findings.filter(({ kind }) => kind === 'file-foreign');
  const lines = foreign.map(({ file }) => `  move it out of the folder of the table: ${file}`);
  if (undone.length + foreign.length < findings.length && requests === undefined)
    lines.push('  run the same command with --repair to repair damage');
  if (missing.length > 0) {
    const blocks = unionSpans(missing.flatMap(({ span }) => span ?? []));
    const isOfDays = missing.some(({ day }) => day !== undefined);
    const ofBlocks = registry.pipelines.filter(coversBlocks).map(({ name }) => name);
    const names = isOfDays
      ? ofBlocks.filter((name) => spans[name] !== undefined)
      : new Set(missing.map(({ pipeline }) => pipeline));
    const flags = {
      range: isOfDays || blocks.length > MAX_SPANS ? range : formatSpans(blocks),
      ...{ network, warehouse, pipelines: registry.folder },
    };
    lines.push(`  fetch what is missing: ${suggest('run', [...names].join(' '), flags)}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}
