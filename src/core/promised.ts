/** Is it a promise, of whichever library? Reading `then` may throw, as anything that a caller hands in may. */
export function isPromised<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    value !== null &&
    (typeof value === 'object' || typeof value === 'function') &&
    'then' in value &&
    typeof value.then === 'function'
  )
}
