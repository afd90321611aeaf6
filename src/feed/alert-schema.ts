import * as z from 'zod';
import { noticeFields, noticeKeys, oneOfKeys } from '../jobs/job-schema.ts';

/** The schema of alert files; docs/alert.schema.json is generated from it. `loadAlerts` checks names and the select. */

const text = z.string().min(1);

const target = z
  .strictObject(noticeFields('alert'))
  .meta({ description: 'Where alerts are sent.', oneOf: oneOfKeys(...noticeKeys) });

export const alertSchema = z
  .strictObject({
    doc: text.optional().describe('What the alert is for.'),
    select: text.describe(
      'A select over the rows of a commit, which are `new_<table>`; other tables are as in `tonlake sql`.',
    ),
    key: z
      .array(text)
      .min(1)
      .optional()
      .describe(
        'Columns of the select; rows with the same values get one alert. Default: the key of the first table that the select reads.',
      ),
    message: text.describe('The text of the alert, with columns of the select in braces.'),
    escape: z
      .enum(['html', 'none'])
      .optional()
      .describe(
        'How values are written into the message. `html`: &, < and > as entities, and no mentions. Default: html for URLs, none for commands.',
      ),
    notify: z.array(target).min(1).describe('Where alerts are sent.'),
  })
  .meta({ title: 'tonlake alert', description: 'An alert: which new rows to report, how, and where.' });

/** The contents of an alert file. */
export type AlertFields = Readonly<z.output<typeof alertSchema>>;
