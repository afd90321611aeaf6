/** Forms that a job writes files in; their names are the endings of the files. */
export const REPORT_FORMATS = ['html', 'md', 'csv', 'json'] as const;
export const EXPORT_FORMATS = ['parquet', 'csv', 'json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
