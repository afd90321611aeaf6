import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** How many files come before those that need programs; the largest come first, and take minutes. */
const BEFORE_PROGRAMS = 40;

/** True if a file waits for programs that .ci/run installs while the first tests run. */
function needsPrograms({ moduleId }: TestSpecification): boolean {
  const text = readFileSync(moduleId, 'utf8');
  return (
    /from '[^']*\b(programs|chromium|\w+-server|targets\/support)\.ts'/.test(text) ||
    moduleId.includes('/test/targets/')
  );
}

/** Runs files as vitest does, but none that waits for an install among the first: it would keep a process idle. */
export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waiting = sorted.filter(needsPrograms);
    const others = sorted.filter((file) => !waiting.includes(file));
    return [...others.slice(0, BEFORE_PROGRAMS), ...waiting, ...others.slice(BEFORE_PROGRAMS)];
  }
}
