import { spawn } from 'node:child_process';

/** Opens an address in the default browser. One that cannot be started is not an error: the address was printed. */
export function openBrowser(url: string): void {
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
