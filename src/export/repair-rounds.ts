/** How often a block that is not whole is asked for again by itself, and the pause between two times. */
export const REPAIRS = 2;
export const REPAIR_PAUSE_MS = 500;
