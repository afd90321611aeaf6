import * as z from 'zod';

const RPS = 'a number above 0, or auto';

/** Requests per second. */
export const rpsValue = z.union([z.number().positive(RPS), z.literal('auto')], RPS);

/** What a schema expects: its own message if that begins in lower case, or a text for the kind of issue. */
export function expectationOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'another form';
  if (/^[a-z]/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return (
        { array: 'a list', object: 'a mapping', record: 'a mapping', int: 'a whole number' }[
          issue.expected as string
        ] ?? `a ${issue.expected}`
      );
    case 'invalid_value':
      return `${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return [...new Set(issue.errors.map(([first]) => expectationOf(first)))].join(', or ');
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array' ? 'something' : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'an address such as https://example.org/hook' : `a ${issue.format}`;
    default:
      return 'another form';
  }
}
