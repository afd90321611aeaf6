/** Thrown for a record that does not fit its declaration; one object, explained afterwards from the record's text. */
export const REFUSED = new Error('refused');
