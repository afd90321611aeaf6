/** Variables of each request. */
export interface UiEnvironment {
  readonly Variables: { nonce: string };
}

export interface UiOptions {
  readonly warehouse: string;
  /** If set, the warehouse must be of this network. */
  readonly network?: string | undefined;
  /** Port on 127.0.0.1; 0 picks a free one. */
  readonly port: number;
  /** Time limit of a query, in seconds. */
  readonly seconds: number;
  /** Memory limit of a query, in megabytes. */
  readonly memoryMb: number;
  /** True if queries may read any file. */
  readonly allowFiles: boolean;
  /** Folder with saved queries, `NAME.sql`. */
  readonly queriesFolder: string;
  /** True if the user named that folder: the page may add queries to it. */
  readonly savesQueries: boolean;
  /** A job file, or a folder of job files; undefined for the usual folders, if there is one. */
  readonly jobsPath: string | undefined;
  /** Version of tonlake. */
  readonly version: string;
}
