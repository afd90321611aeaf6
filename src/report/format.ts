/** `html`: one page that asks for nothing; `md`: Markdown; `csv` and `json`: the rows with all their digits. Also the endings of the files. */
export const REPORT_FORMATS = ['html', 'md', 'csv', 'json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];
