/** The script of the hammer's other processes. */
import { serve } from '../process/serve.js'
import { type Answered, callAll } from './duplicates.js'

interface Target {
  readonly call: (n: number) => unknown
  readonly close?: () => unknown
}

let target: Target | undefined

serve(
  {
    async open({ module, argument }: { module: string; argument: unknown }): Promise<void> {
      const { default: make } = (await import(module)) as {
        default: (argument: unknown) => Target | Promise<Target>
      }
      target = await make(argument)
    },
    strike: async (order: { calls: number; from: number; retries: number }): Promise<readonly Answered[]> =>
      await callAll((target as Target).call, order.calls, order.from, order.retries),
  },
  () => target?.close?.(),
)
