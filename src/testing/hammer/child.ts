/** The script of the hammer's other processes. */
import { serve } from '../process/serve.js'
import { type Answered, callAll } from './duplicates.js'

/** What the default export of a target's module gives: makes duplicate number `n`. */
export interface HammerHandler {
  readonly call: (n: number) => unknown
  readonly close?: () => unknown
}

let target: HammerHandler | undefined

serve(
  {
    async open({ module, argument }: { module: string; argument: unknown }): Promise<void> {
      const { default: make } = (await import(module)) as {
        default: (argument: unknown) => HammerHandler | Promise<HammerHandler>
      }
      target = await make(argument)
    },
    strike: async (order: { calls: number; from: number; retries: number }): Promise<readonly Answered[]> =>
      await callAll((target as HammerHandler).call, order.calls, order.from, order.retries),
  },
  () => target?.close?.(),
)
