/** Average length of runs from which on they are copied as a whole. */
const LEAST_RUN = 8;

/** Rows to gather, in order. Pages are in order, so most of their rows stay neighbours. */
export class ChosenRows {
  readonly rows: Int32Array;
  /** Positions at which runs of neighbouring rows begin, and the number of rows; undefined if runs are short. */
  readonly runs: Int32Array | undefined;
  /** The greatest row; -1 for none. */
  readonly greatest: number;

  constructor(rows: Int32Array) {
    this.rows = rows;
    const runs = new Int32Array(Math.floor(rows.length / LEAST_RUN) + 2);
    let [count, greatest, before] = [0, -1, -2];
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number;
      // Too many runs: what is written past the end is dropped.
      if (row !== before + 1) runs[count++] = at;
      if (row > greatest) greatest = row;
      before = row;
    }
    this.greatest = greatest;
    if (count < runs.length) {
      runs[count] = rows.length;
      this.runs = runs.subarray(0, count + 1);
    }
  }
}
