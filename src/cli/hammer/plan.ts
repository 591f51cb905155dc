/** What the hammer will do, said before it does it. Values of headers are not shown: some let people in. */
import type { CheckOptions, Target } from '../../testing/index.js'
import { facts } from '../table.js'
import { counted } from '../times.js'

export interface Plan {
  readonly target: string
  readonly calls: string
  readonly payloads: Readonly<Record<string, string>>
  readonly probe: string | undefined
  readonly restart: string | undefined
}

/** Besides those at once: what the properties send when nothing waits. */
const ABOUT = 60
const SHOWN = 200

export function planOf(
  target: Pick<Target, 'name' | 'payloadName'>,
  options: CheckOptions,
  means: { readonly probe: string | undefined; readonly restart: string | undefined },
): Plan {
  const { payloadName } = target
  const all: readonly (readonly [string, unknown])[] = [
    [payloadName, options.payload],
    [`other ${payloadName}`, options.otherPayload],
    [`failing ${payloadName}`, options.failingPayload],
    [`slow ${payloadName}`, options.slowPayload],
  ]
  const { atOnce = 0 } = options
  const calls = counted(ABOUT + atOnce, 'call')
  const given = all.filter(([, payload]) => payload !== undefined)
  return {
    target: target.name,
    calls: `about ${calls}, ${atOnce} of them at once, under new keys that begin with ${options.keyPrefix}`,
    payloads: Object.fromEntries(given.map(([name, payload]) => [name, textOf(payload)])),
    ...means,
  }
}

export function planText({ target, calls, payloads, probe, restart }: Plan): string {
  return facts([
    ['target', target],
    ['sends', calls],
    ...Object.entries(payloads),
    ['probe', probe ?? 'none: effects are not counted'],
    ['restart', restart ?? 'none'],
  ])
}

function textOf(payload: unknown): string {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
