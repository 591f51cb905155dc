/** The rows of the trust table, in the order in which they are shown. Each is one small file. */
import { blind } from './blind.mjs'
import { crashes } from './crashes.mjs'
import { interleavings } from './interleavings.mjs'
import { kills } from './kills.mjs'
import { linearisability } from './linearisability.mjs'
import { malformed } from './malformed.mjs'
import { model } from './model.mjs'
import { mutation } from './mutation.mjs'
import { planted } from './planted.mjs'
import { simulation } from './simulation.mjs'
import { skew } from './skew.mjs'
import { syscalls } from './syscalls.mjs'
import { tenants } from './tenants.mjs'
import { traces } from './traces.mjs'

/** Shown and run. */
export const ROWS = [
  crashes,
  simulation,
  interleavings,
  model,
  traces,
  kills,
  linearisability,
  planted,
  mutation,
  malformed,
  tenants,
  skew,
  syscalls,
]

export const findRow = (id) => [...ROWS, blind].find((row) => row.id === id)
