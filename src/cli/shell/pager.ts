import { spawn } from 'node:child_process';

/** Size of a terminal, in characters. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** True if a text is wider or longer than a screen. */
export function isTooLarge(text: string, { columns, rows }: ScreenSize): boolean {
  const lines = text.split('\n');
  return lines.length > rows || lines.some((line) => line.length > columns);
}

/**
 * Shows a text in the user's pager, which uses the terminal until it ends.
 *
 * @param command of the shell: `PAGER`, or `less -SRFX`
 * @returns false if there is no such program
 */
export function showInPager(text: string, command: string): Promise<boolean> {
  return new Promise((resolve) => {
    // Ctrl-C is for the pager.
    const ignore = (): void => {};
    process.on('SIGINT', ignore);
    const pager = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'] });
    const end = (isShown: boolean): void => {
      process.off('SIGINT', ignore);
      resolve(isShown);
    };
    pager.on('error', () => end(false));
    // 127: the shell did not find the program.
    pager.on('close', (code) => end(code !== 127));
    // A pager can be left before it has read everything.
    pager.stdin.on('error', () => {});
    pager.stdin.end(text);
  });
}
