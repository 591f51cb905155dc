/**
 * Tells a log or an observer of the program's. One that throws, at once or later, is not a reason to lose an answer or
 * a message, and behind a promise that nobody holds it would end the process.
 */
export function quietly(tell: () => unknown): void {
  try {
    Promise.resolve(tell()).catch(() => undefined)
  } catch {
    // Theirs.
  }
}
