/** Thrown for a record that does not match its declaration; a single object, explained later from the record's text. */
export const REFUSED = new Error('refused');
