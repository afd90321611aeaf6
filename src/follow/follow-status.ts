import type { Store } from '../warehouse/index.ts';

/** Position of a running `followHead`. */
export interface FollowPosition {
  /** Newest masterchain block of the index, as of the last round. */
  readonly head: number;
  /** Newest block that all followed pipelines have; undefined if there is none. */
  readonly block: number | undefined;
  /** Current age of `block`, in seconds. */
  readonly seconds: number | undefined;
  /** Unproven blocks before `block`. */
  readonly holes: number;
  readonly oldestHole: number | undefined;
  /** Time without activity beyond the planned pause, in milliseconds. */
  readonly silentMs: number;
  /** Current maximum of requests per second; undefined for no limit. */
  readonly rps: number | undefined;
  /** Requests per second over the last minute. */
  readonly requestsPerSecond: number;
}

/** Figures of the warehouse. */
interface WarehouseFigures {
  readonly files: number;
  /** Rows that could not be decoded. */
  readonly quarantined: number;
}

/** Figures of a running `followHead`. */
export interface FollowFigures extends FollowPosition, WarehouseFigures {
  /** Attempts by outcome: `answered`, or the code of the error. */
  readonly requests: Readonly<Record<string, number>>;
  /** Lag of each mart behind the committed rows, in seconds; empty without marts. */
  readonly martLags: Readonly<Record<string, number>>;
}

/** A running `followHead`, for metrics and health. */
export interface FollowStatus {
  readonly network: string;
  read(): FollowFigures;
}

export function warehouseFigures(store: Store): WarehouseFigures {
  const tables = store.ledger().flatMap((entry) => Object.entries(entry.tables));
  return {
    files: tables.reduce((sum, [, { files }]) => sum + files.length, 0),
    quarantined: store.ledger().reduce((sum, { tables: of }) => sum + (of['quarantine']?.rows ?? 0), 0),
  };
}
