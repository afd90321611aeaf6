/** `html`: one self-contained page; `md`: Markdown; `csv` and `json`: the rows with all digits; `text`: for a terminal. */
export const REPORT_FORMATS = ['html', 'md', 'csv', 'json', 'text'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];
