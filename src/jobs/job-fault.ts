import { choicesFor } from '../core/did-you-mean.ts';
import { TonlakeError, UsageError } from '../core/errors.ts';
import type { YamlPath as Path, PlacedYaml } from '../core/yaml.ts';

/** A wrong value of a job file: `usage: expected X, got Y (jobs/a.yaml:7:3); hint: Z`. */
export function wrongValue(yaml: PlacedYaml, path: Path, expected: string, hint: string): UsageError {
  const got = yaml.textAt(path);
  return new UsageError(`usage: expected ${expected}, got ${got} (${yaml.placeOf(path)})`, { code: 'bad-job', hint });
}

/** An unknown name, with the closest valid one as hint. */
export function wrongName(yaml: PlacedYaml, path: Path, what: string, choices: readonly string[]): UsageError {
  const hint = choices.length === 0 ? `there is no ${what}` : choicesFor(yaml.textAt(path), choices);
  return wrongValue(yaml, path, `a ${what}`, hint);
}

/** Runs `check` and adds the place of the value to its error. */
export function placed<T>(yaml: PlacedYaml, path: Path, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TonlakeError)) throw error;
    const hint = error.hint ?? `see docs/jobs.md for valid values of ${path.join('.')}`;
    throw new UsageError(`${error.message} (${yaml.placeOf(path)})`, { code: error.code, hint, cause: error });
  }
}
