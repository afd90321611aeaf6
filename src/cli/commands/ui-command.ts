import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { type CommonOptions, parseCount, parsePort, withPlace } from '../common-options.ts';
import { type Context, inContext } from '../context.ts';

interface UiFlags extends CommonOptions {
  readonly port: number;
  readonly open?: boolean;
  readonly seconds: number;
  readonly memory: number;
  readonly allowFiles?: boolean;
  readonly queries?: string;
  readonly jobs?: string;
}

const HELP = `
The page is for this machine and this user: it answers on 127.0.0.1 only, and only to the browser that opened the printed address.
It changes nothing in the warehouse, and writes no file but saved queries, with --queries. Queries read the warehouse and nothing else; --allow-files lets them read other files that you can read.
docs/ui.md describes the pages.

Examples:
  tonlake ui
  tonlake ui --warehouse data/mainnet --open
  tonlake ui --port 0 --seconds 300 --memory 4096`;

/** `tonlake ui`: serves a page about a warehouse until it is interrupted. */
export function addUi(program: Command): void {
  withPlace(program.command('ui'))
    .description('look at a warehouse in a browser: tables, queries, charts')
    .option('--port <port>', 'port on 127.0.0.1; 0 picks a free one', parsePort, 8080)
    .option('--open', 'open the page in the default browser')
    .option('--seconds <n>', 'time limit of a query', parseCount, 60)
    .option('--memory <MB>', 'memory limit of a query; it spills to temporary files', parseCount, 1024)
    .option('--allow-files', 'let queries read files outside of the warehouse')
    .option(
      '--queries <folder>',
      'folder with saved queries, NAME.sql, which the page adds to (default: queries, only read)',
    )
    .option('--jobs <path>', 'job file or folder of job files (default: jobs, or pipelines/jobs)')
    .addHelpText('after', HELP)
    .action(inContext(serve));
}

async function serve(context: Context<UiFlags>): Promise<void> {
  const [{ serveUi }, { readVersion }, warehouse] = await Promise.all([
    import('../../ui/serve-ui.ts'),
    import('../../core/own-package.ts'),
    context.warehouse(),
  ]);
  const { flags } = context;
  const server = await serveUi({
    warehouse,
    network: flags.network,
    port: flags.port,
    version: readVersion(),
    seconds: flags.seconds,
    memoryMb: flags.memory,
    allowFiles: flags.allowFiles === true,
    queriesFolder: flags.queries ?? 'queries',
    savesQueries: flags.queries !== undefined,
    jobsPath: flags.jobs,
  });
  context.write(`${server.url}\npress Ctrl-C to stop\n`);
  if (flags.open === true) openBrowser(server.url);
  await context.untilInterrupted();
  await server.close();
}

/** Opens an address in the default browser. A browser that does not start is no error, because the address was printed. */
function openBrowser(url: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['explorer', url]
        : ['xdg-open', url];
  const child = spawn(command ?? '', args, { stdio: 'ignore', detached: true });
  child.once('error', () => process.stderr.write('no browser could be started: open the address above\n'));
  child.unref();
}
