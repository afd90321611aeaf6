import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { isCommittedMeanwhile } from '../core/errors.ts';
import { serializePipeline } from '../declare/stored-declaration.ts';
import { guarded } from '../files/file-failure.ts';
import { draftEntry, supersedeLast } from './ledger/draft-entry.ts';
import { requireUnrivalled } from './ledger/rival-entries.ts';
import { Stager } from './staging/stager.ts';
import type { CommitDraft, CommitPart, LedgerEntry, StagedSpan, Store } from './store.ts';
import { type StoreOptions, stepOf } from './store-options.ts';
import type { DeclaredPart, DraftedEntry, Writer } from './writer.ts';

/** A warehouse of any kind, opened for writing. Its functions need no `this`. */
export function openedStore(writer: Writer, options: StoreOptions): Store {
  const { kind, path, rivals, staging, query, rows, entries } = writer;
  const stager = new Stager(staging, writer.instance, options.effects.freshId);
  const commits = new PQueue({ concurrency: 1 });
  const committer = new Committer(writer, options);
  /** Runs `work` while no commit runs. */
  const exclusively = <T>(work: () => Promise<T>): Promise<T> => commits.add(() => guarded(`warehouse ${path}`, work));
  const commitTogether: Store['commitTogether'] = (parts, others) =>
    exclusively(() => committer.commit(supersedeLast(parts), others));
  return {
    ...{ kind, path, staging, query, rows, ...(rivals && { rivals }) },
    stage: (span) => {
      const files = stager.stage(span);
      return writer.stage?.(files, span) ?? files;
    },
    scratch: () => stager.scratch(),
    commit: (staged, draft) => commitOne(commitTogether, { staged, draft }),
    commitTogether,
    ledger: () => entries.effective,
    forgotten: () => entries.forgotten,
    log: (after, most) => guarded(`warehouse ${path}`, () => writer.log(after, most)),
    requireKnown: () => writer.requireKnown?.(),
    connect: () => writer.connect(),
    clearSuperseded: () => exclusively(() => writer.clear()),
    closeIdle: () => writer.closeIdle(),
    close: async () => {
      await commits.onIdle();
      await writer.close();
    },
  };
}

/** Commits a single entry. */
export async function commitOne(commitTogether: Store['commitTogether'], part: CommitPart): Promise<LedgerEntry> {
  const [entry] = await commitTogether([part]);
  if (entry === undefined) throw new Error('no entry was committed');
  return entry;
}

class Committer {
  readonly #writer: Writer;
  readonly #options: StoreOptions;

  constructor(writer: Writer, options: StoreOptions) {
    this.#writer = writer;
    this.#options = options;
  }

  /**
   * Rows first, then the entries that name them: rows without an entry do not count.
   * @param others ids of entries that count as those of rivals, beside those of the writer
   */
  async commit(parts: readonly CommitPart[], others: Iterable<string> = []): Promise<readonly LedgerEntry[]> {
    if (parts.some(({ draft }) => draft.supersedes.length > 0)) this.#writer.requireKnown?.();
    const { pipelines } = this.#options;
    const staged = parts.map((part) => part.staged);
    let due: readonly DeclaredPart[] = parts.map((part) => {
      const pipeline = pipelines.find(({ name }) => name === part.draft.pipeline);
      return { ...part, declared: pipeline && serializePipeline(pipeline) };
    });
    const draft = (): readonly DraftedEntry[] => this.#draft(due, new Set([...(this.#writer.rivals ?? []), ...others]));
    try {
      // Refuses what is known to be wrong before any file is in its place. Others can commit until an entry is put.
      draft();
      await this.#writer.place(due);
      for (;;) {
        const drafted = draft();
        const count = await this.#writer.put(drafted);
        if (count === drafted.length) {
          await this.#writer.settle(drafted);
          await this.#clearStages(staged);
          return drafted.map(({ entry }) => entry);
        }
        // New ids, so that the entries that were put remain an incomplete commit.
        if (count > 0) due = this.#renamed(due);
      }
    } catch (error) {
      if (isCommittedMeanwhile(error)) {
        await this.#writer.abandon(staged);
        await this.#clearStages(staged);
      }
      throw error;
    }
  }

  #draft(parts: readonly DeclaredPart[], rivals: ReadonlySet<string>): readonly DraftedEntry[] {
    const { effects, network } = this.#options;
    const { entries } = this.#writer;
    const last = parts.at(-1)?.staged.id;
    const committedAt = effects.now();
    return parts.map(({ staged, draft, declared }, position) => {
      this.#requireUnrivalled(draft, staged.id, rivals);
      const commitWith = staged.id === last ? undefined : last;
      const declaration = declared?.id;
      const entry = draftEntry({ staged, draft, entries, network, commitWith, declaration, committedAt, position });
      return { staged, declared, entry };
    });
  }

  #requireUnrivalled(draft: CommitDraft, id: string, rivals: ReadonlySet<string>): void {
    if (rivals.size === 0) return;
    const { entries } = this.#writer;
    const known = new Set(entries.all.map((entry) => entry.id));
    requireUnrivalled({
      ...{ draft, id, pipelines: this.#options.pipelines },
      rivals: entries.effective.filter((entry) => rivals.has(entry.id)),
      // Entries that were replaced long ago are no longer in memory.
      isReplaced: (each) => rivals.has(entries.successorOf(each)?.id ?? '') || !known.has(each),
    });
  }

  /** The same parts with new entry ids. The names of the files keep the old ones. */
  #renamed(parts: readonly DeclaredPart[]): readonly DeclaredPart[] {
    const ids = new Map(parts.map(({ staged }) => [staged.id, this.#options.effects.freshId()]));
    const idOf = (id: string): string => ids.get(id) ?? id;
    return parts.map(({ staged, draft, declared }) => ({
      staged: { ...staged, id: idOf(staged.id) },
      draft: { ...draft, supersedes: draft.supersedes.map(idOf) },
      declared,
    }));
  }

  async #clearStages(staged: readonly StagedSpan[]): Promise<void> {
    await stepOf(this.#options)('clear stage');
    for (const { id } of staged) await rm(join(this.#writer.staging.stagingPath, id), { recursive: true, force: true });
  }
}
