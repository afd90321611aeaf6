import { Command } from 'commander';
import { vi } from 'vitest';
import { addApi } from '../../src/cli/commands/api-command.ts';

/** What `tonlake api` prints on standard output, in this process. */
export async function printFetch(words: readonly string[], network = 'http://127.0.0.1:9'): Promise<string> {
  const program = new Command('tonlake').exitOverride();
  addApi(program);
  let out = '';
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    await program.parseAsync(['api', '--network', network, ...words], { from: 'user' });
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
  return out;
}
