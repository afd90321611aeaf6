/** Something on the chain that a text names, and how tables hold it. */
export interface Thing {
  readonly kind: 'address' | 'hash' | 'block';
  readonly value: string;
}

/** Where a thing occurs. */
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
  /** Those that it is from; none if it is from the ledger. */
  readonly tables: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** What is known of a thing by its own rows. */
export interface ThingFacts extends Thing {
  /** Of an address. */
  readonly friendly: string | null;
  readonly sections: readonly ThingSection[];
  /** Roots of the trace of a hash. */
  readonly trace: readonly TraceNode[];
}

/** What a warehouse knows of a thing: `tonlake show --json`. */
export interface ShownThing extends ThingFacts {
  readonly places: readonly FoundPlace[];
}
