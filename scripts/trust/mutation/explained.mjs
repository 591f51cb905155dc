/** Mutants that survive for a reason: the change cannot be seen from outside, or only in how long something takes. */
export const EXPLAINED = []
