/** The other side of `startChild`: a script serves handlers, and ends when its parent lets go of it or dies. */

export interface Call {
  readonly id: number
  readonly verb: string
  readonly argument: unknown
}

export interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: { readonly message: string; readonly code?: string }
}

export type Handlers = Readonly<Record<string, (argument: never) => unknown>>

export function serve(handlers: Handlers, close: () => unknown): void {
  process.on('message', (call: Call) => {
    void reply(handlers, call)
  })
  process.on('disconnect', () => {
    void Promise.resolve()
      .then(close)
      .finally(() => process.exit())
  })
}

async function reply(handlers: Handlers, call: Call): Promise<void> {
  const given = await answer(handlers, call)
  if (process.connected) process.send?.(given)
}

async function answer(handlers: Handlers, { id, verb, argument }: Call): Promise<Answer> {
  try {
    const handler = handlers[verb] as ((argument: unknown) => unknown) | undefined
    if (!handler) return { id, error: { message: `it has no handler for ${verb}` } }
    return { id, value: await handler(argument) }
  } catch (error) {
    return { id, error: describe(error) }
  }
}

/** What of an error can cross to another process. */
export function describe(error: unknown): { readonly message: string; readonly code?: string } {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return code === undefined ? { message: error.message } : { message: error.message, code }
}
