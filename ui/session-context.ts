import { createContext } from 'preact';

/** What the server lets the pages do. */
export const SessionContext = createContext({ mayAskSource: false });
