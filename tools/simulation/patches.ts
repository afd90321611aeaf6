/** A change of a compiled module while it loads. `from` must occur exactly once. */
export interface Patch {
  /** Below `dist/src/`, without its ending. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Lowers limits that only large ledgers reach to a few dozen commits. */
export const TUNED: readonly Patch[] = [
  { file: 'warehouse/ledger/ledger-folder', from: 'CHECKPOINT_ENTRIES = 100', to: 'CHECKPOINT_ENTRIES = 4' },
  { file: 'warehouse/ledger/entries', from: 'MIN_PRUNED = 2_000', to: 'MIN_PRUNED = 10' },
  { file: 'warehouse/parquet-store/folder-writes', from: 'PRUNE_EVERY = 100', to: 'PRUNE_EVERY = 5' },
];

/** Faults that the simulation has to find: each breaks a promise of the protocol. */
export const FAULTS: Readonly<Record<string, Patch>> = {
  'a small file that is not synced': {
    file: 'files/disk',
    from: 'await file.writeFile(content);\n        await file.sync();',
    to: 'await file.writeFile(content);',
  },
  'folders of data files that are not synced': {
    file: 'warehouse/parquet-store/folder-writes',
    from: 'for (const folder of folders)\n            await syncPath(folder);',
    to: '',
  },
  'an entry whose folder is not synced': {
    file: 'objects/disk-objects',
    from: '// The writer of the other one may have been killed before it synced the folder.\n        await syncPath(dirname(path));',
    to: '',
  },
  'names of a dead writer that are trusted before they are synced': {
    file: 'warehouse/parquet-store/folder-writes',
    from: 'if (!hasRecord)\n            await this.#syncNames();',
    to: '',
  },
  'names of a failed commit that are trusted before they are synced': {
    file: 'warehouse/parquet-store/folder-writes',
    from: 'this.#isUnsynced = true;',
    to: '',
  },
  'an entry without what it supersedes': {
    file: 'warehouse/ledger/draft-entry',
    from: 'supersedes: draft.supersedes,',
    to: 'supersedes: [],',
  },
  'a commit of several entries that supersedes with the first': {
    file: 'warehouse/ledger/draft-entry',
    from: 'at === parts.length - 1 ?',
    to: 'at === 0 ?',
  },
  'a part of a commit that does not wait for the others': {
    file: 'warehouse/warehouse-store',
    from: 'staged.id === last ? undefined : last',
    to: 'undefined',
  },
  'a collector without grace': {
    file: 'warehouse/garbage/collect-garbage',
    from: 'return !isOver ||',
    to: 'return',
  },
  'a collector that counts from before the entry was there': {
    file: 'warehouse/garbage/collect-garbage',
    from: '&& now - putAt(ledger, by, now) >= ms',
    to: '',
  },
  'a collector that forgets what is published': {
    file: 'warehouse/garbage/published-entries',
    from: 'from <= number && number < until',
    to: 'false',
  },
  'a folder that is not listed again after a change': {
    file: 'warehouse/garbage/data-folders',
    from: 'known !== undefined && known[0] === state',
    to: 'known !== undefined',
  },
  'a checkpoint that is written too early': {
    file: 'warehouse/ledger/ledger-folder',
    from: '[entries.lastNumber, await',
    to: '[entries.lastNumber + 1, await',
  },
  'a checkpoint that leaves out what is published': {
    file: 'warehouse/ledger/entries',
    from: 'this.#retainedFor.length === 0',
    to: 'true',
  },
  'a collector that removes what a merged entry still names': {
    file: 'warehouse/bucket-store/bucket-garbage',
    from: 'superseded.has(key) && !needed.has(key)',
    to: 'superseded.has(key)',
  },
  'a lock that any process may take over': {
    file: 'files/process-liveness',
    from: "? 'gone' : 'running'",
    to: "? 'gone' : 'gone'",
  },
  'a number of the ledger that two writers may have': {
    file: 'warehouse/files-writer',
    from: '.putOrGet(`${LEDGER}/${entryName(entry.number)}`, text)',
    to: '.put(`${LEDGER}/${entryName(entry.number)}`, text)',
  },
  'rows of a rival that nobody looks for': {
    file: 'warehouse/ledger/rival-entries',
    from: 'const rival = rivals.find(isRival);',
    to: 'const rival = undefined;',
  },
  'an orphan that is collected while it waits for its entry': {
    file: 'warehouse/bucket-store/bucket-garbage',
    from: 'now - putAt >= ORPHAN_MS',
    to: 'now - putAt >= 0',
  },
};
