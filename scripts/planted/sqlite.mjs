/** Defects in the embedded store. */
export const sqlite = []
