/** At which points of a saga a process is killed. */

/**
 * Where a crash leaves other traces than at the point before: the very beginning, and behind every write and effect.
 * What has been read is gone with the process, and before a write there is what was there after the last one.
 */
export const leavesTraces = (point: string, at: number): boolean =>
  at === 0 || /^after (claim|settle|do|undo)/.test(point)
