/** `html`: one page that asks for nothing; `md`: Markdown; `csv` and `json`: the rows with all their digits; `text`: for a terminal. */
export const REPORT_FORMATS = ['html', 'md', 'csv', 'json', 'text'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];
