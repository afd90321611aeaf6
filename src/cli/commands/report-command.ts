import { type Command, Option } from 'commander';
import { ReportError, usage } from '../../core/errors.ts';
import { formatBytes } from '../../core/format.ts';
import { suggest } from '../../core/suggest.ts';
import { formatOf } from '../../files/output-format.ts';
import { REPORT_FORMATS, type ReportFormat } from '../../reports/report-format.ts';
import { type CommonOptions, collectParam, withPlace } from '../common-options.ts';
import { type Context, inContext } from '../context.ts';
import { fitTerminal } from '../fit-terminal.ts';
import { refuseOthersWith } from '../option-conflicts.ts';

interface ReportFlags extends CommonOptions {
  readonly param?: Readonly<Record<string, string>>;
  readonly format?: ReportFormat;
  readonly output?: string;
  readonly timezone: string;
  readonly list?: boolean;
}

const HELP = `
The report goes to standard output or to --output. The format follows from the extension of --output; --format must not contradict
it. Otherwise it is text on a terminal and HTML in a pipe. An existing file is replaced atomically, and only if the report has data.
See docs/reports.md to write your own.

Examples:
  tonlake report --list
  tonlake report network-daily --network sandbox --output network.html
  tonlake report account --param account=EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs --format md
  tonlake report ./reports/mine --param from=2026-05-01 --timezone Europe/Zurich --format csv

Exit codes: 0 success (stderr says what is missing), 1 no data or failed, 2 invalid usage.`;

/** `tonlake report`: renders a report from queries. */
export function addReport(program: Command): void {
  withPlace(program.command('report'))
    .summary('render a report as HTML, Markdown, CSV, JSON or text')
    .description('render a report from a warehouse as HTML, Markdown, CSV, JSON or text')
    .argument('[report]', 'name of a built-in report, or the path of your own')
    .option('-p, --param <name=value>', 'value of a report parameter; repeatable', collectParam)
    .addOption(
      new Option(
        '--format <format>',
        'output format (default: from the extension of --output, else text on a terminal and html in a pipe)',
      ).choices(REPORT_FORMATS),
    )
    .option('-o, --output <file>', 'write to a file instead of standard output')
    .option('--timezone <zone>', 'time zone of days and hours', 'UTC')
    .option('--list', 'list the built-in reports and their parameters')
    .addHelpText('after', HELP)
    .action(inContext(makeReport));
}

async function makeReport(context: Context<ReportFlags>, report: string | undefined): Promise<void> {
  const { flags } = context;
  if (flags.list === true) {
    const words = report === undefined ? [] : [report];
    refuseOthersWith(context, 'list', [], { words });
    return showList();
  }
  if (report === undefined) {
    throw usage('a report', 'none', `${suggest('report', '--list')} shows the built-in reports`);
  }
  const { param: params, network, timezone } = flags;
  const options = { params, format: formatOfOutput(flags), network, timezone };
  const { renderReport } = await import('../../reports/render-report.ts');
  const warehouse = await context.warehouse();
  const rendered = await context.line.during('rendering', () => renderReport(warehouse, report, options));
  if (rendered.isEmpty) {
    throw new ReportError(`report: expected data for ${rendered.name}, found no rows`, {
      hint: rendered.gaps[0] ?? 'choose other parameters, or export more data',
    });
  }
  rendered.gaps.forEach(context.warn);
  if (flags.output === undefined) {
    process.stdout.write(rendered.content);
    if (process.stdout.isTTY && flags.format === undefined) {
      context.line.print(`hint: --output ${rendered.name}.html writes the page with its charts`);
    }
    return;
  }
  const { writeTextAtomically } = await import('../../files/atomic-write.ts');
  await writeTextAtomically(flags.output, rendered.content);
  context.write(`${flags.output}: ${rendered.title} (${formatBytes(Buffer.byteLength(rendered.content))})\n`);
}

async function showList(): Promise<void> {
  const { listReports } = await import('../../reports/find-report.ts');
  for (const { name, title, doc, params = {} } of await listReports()) {
    process.stdout.write(fitTerminal(`${name}: ${title}\n  ${doc}\n`));
    for (const [param, { type, doc: meaning, choices, default: fallback, required }] of Object.entries(params)) {
      const rule = required === true ? 'required' : fallback === undefined ? 'optional' : `default ${fallback}`;
      process.stdout.write(fitTerminal(`  --param ${param}=<${choices?.join('|') ?? type}>  ${meaning} (${rule})\n`));
    }
  }
}

/** HTML is never written to a file with another extension, and to a terminal only if requested. */
function formatOfOutput({ output, format }: ReportFlags): ReportFormat {
  if (output === undefined) return format ?? (process.stdout.isTTY ? 'text' : 'html');
  return formatOf({ output, format, formats: REPORT_FORMATS }) ?? 'html';
}
