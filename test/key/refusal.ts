import { IbidError } from '../../src/core/errors.js'

/** The INVALID_INTENT that `work` throws; anything else is a failed test. */
export function refusal(work: () => unknown): IbidError {
  let got: unknown
  try {
    got = work()
  } catch (error) {
    if (error instanceof IbidError && error.code === 'INVALID_INTENT') return error
    throw error
  }
  throw new TypeError(`not refused: ${JSON.stringify(got)}`)
}
