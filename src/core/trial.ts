/** A check of something that later work needs. */
export interface Trial {
  /** `put objects in s3://lake/mainnet` */
  readonly name: string;
  /** Rejects if it is missing or not permitted. Leaves nothing behind. */
  readonly attempt: () => Promise<void>;
}
