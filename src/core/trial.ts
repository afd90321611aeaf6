/** Something that work will need, tried before it begins. */
export interface Trial {
  /** `put objects in s3://lake/mainnet` */
  readonly name: string;
  /** Rejects if it is not there, or not allowed. Leaves nothing behind. */
  readonly attempt: () => Promise<void>;
}
