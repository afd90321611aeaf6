/** An account, hash or masterchain block, in the form that tables store. */
export interface Thing {
  readonly kind: 'address' | 'hash' | 'block';
  readonly value: string;
}

/** A column that contains a thing, and in how many rows. */
export interface FoundPlace {
  readonly table: string;
  readonly column: string;
  readonly doc: string;
  readonly count: number;
  /** True if the column alone is the key of the table. */
  readonly isKey: boolean;
}

/** A transaction of a trace, with the message that it received. */
export interface TraceNode {
  readonly hash: string;
  readonly account: string;
  readonly lt: string;
  readonly isAborted: boolean;
  /** Value of the message, in TON. */
  readonly ton: string | null;
  readonly opcode: string | null;
  /** Fees of the transaction, in TON. */
  readonly fees: string;
  /** Exit code of the computation with its name, if it failed: `33 insufficient gas`. */
  readonly exit: string | null;
  readonly children: readonly TraceNode[];
}

/** Facts about a thing from some tables; a single row is one fact per column. */
export interface ThingSection {
  readonly title: string;
  /** Source tables; empty for facts of the ledger. */
  readonly tables: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** The rows about a thing. */
export interface ThingFacts extends Thing {
  /** User-friendly form of an address; null for hashes and blocks. */
  readonly friendly: string | null;
  readonly sections: readonly ThingSection[];
  /** Roots of the trace of a hash. */
  readonly trace: readonly TraceNode[];
}

/** Everything that a warehouse has about a thing: `tonlake show --json`. */
export interface ShownThing extends ThingFacts {
  readonly places: readonly FoundPlace[];
}
