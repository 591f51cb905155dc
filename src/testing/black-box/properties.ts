/** The properties, in the order in which they are tested: what is plain first, what kills the target last. */
import type { Property } from './property.js'
import { manyAtOnce } from './properties/at-once.js'
import { claimedReplay, otherCaller } from './properties/callers.js'
import { cutOff } from './properties/cut-off.js'
import { retryAfterFailure } from './properties/failure.js'
import { replayFidelity } from './properties/fidelity.js'
import { keyMissing } from './properties/key-missing.js'
import { longKey, oddKey } from './properties/odd-keys.js'
import { otherPayloadAfter, otherPayloadDuring } from './properties/other-payload.js'
import { restartBetween, restartInTheMiddle } from './properties/restart.js'
import { sameKeyTwice } from './properties/same-key.js'

export const PROPERTIES: readonly Property[] = [
  sameKeyTwice,
  manyAtOnce,
  otherPayloadAfter,
  otherPayloadDuring,
  keyMissing,
  longKey,
  oddKey,
  cutOff,
  retryAfterFailure,
  replayFidelity,
  claimedReplay,
  otherCaller,
  restartBetween,
  restartInTheMiddle,
]
