/** Forms that a job exports rows in; their names are the endings of the files. */
export const EXPORT_FORMATS = ['parquet', 'csv', 'json'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
