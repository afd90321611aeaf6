import { counted, formatCount, formatDuration } from '../core/format.ts';
import { shortSpans, subtractSpans } from '../core/span.ts';
import { nameSome } from '../warehouse/query/left-out-gaps.ts';
import { formatFinding } from './finding.ts';
import type { RepairOptions } from './repair.ts';
import type { VerifyEvent, VerifyReport } from './verify.ts';

/** Prints the events of a verification, as JSON lines or as text. */
export function showVerify(isJson: boolean): Required<Pick<RepairOptions, 'onEvent' | 'onProblem'>> {
  const write = (text: string): void => {
    process.stdout.write(text);
  };
  if (isJson) {
    return {
      onEvent: (event) => write(`${JSON.stringify(event)}\n`),
      onProblem: (event) => write(`${JSON.stringify(event)}\n`),
    };
  }
  return {
    onEvent: (event) => write(`${formatEvent(event)}\n`),
    onProblem: (event) =>
      write(
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
  const { proven, findings, spans, unproven, files, unsigned, edges, content, requests, seconds } = report;
  const shown = (all: VerifyReport['spans']): readonly string[] =>
    Object.entries(all)
      .filter(([, list]) => list.length > 0)
      .map(([pipeline, list]) => `${pipeline} ${shortSpans(list)}`);
  const done = shown(
    Object.fromEntries(
      Object.entries(spans).map(([pipeline, list]) => [pipeline, subtractSpans(list, unproven[pipeline] ?? [])]),
    ),
  );
  const read = shown(unproven);
  const found = counted(findings, 'finding');
  const asked = requests === undefined ? '' : `, ${formatCount(requests)} requests`;
  const lines = [
    `${proven ? 'proven' : 'NOT proven'}: ${done.join('; ') || 'nothing'} in ${report.warehouse} (${found}, ${formatCount(files)} files${asked}, ${formatDuration(seconds)})`,
  ];
  if (read.length > 0) lines.push(`  only read, not proven: ${read.join('; ')}`);
  if (unsigned > 0)
    lines.push(`  ${formatCount(unsigned)} files have no checksum: only their keys, times and fees are proven`);
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
  if (!proven && requests === undefined) lines.push('  run the same command with --repair to repair damage');
  return lines.join('\n');
}
