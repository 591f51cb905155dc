/**
 * Structured logs: one JSON object a line, on standard error. Nothing of a payload, a value or a key stands in
 * them.
 */
const LEVELS = ['info', 'warn', 'error', 'off'] as const
export type Level = (typeof LEVELS)[number]

export interface Log {
  info(message: string, facts?: Readonly<Record<string, unknown>>): void
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void
  error(message: string, facts?: Readonly<Record<string, unknown>>): void
}

export function createLog(
  least: Level,
  write: (line: string) => void = (line) => process.stderr.write(line),
): Log {
  function at(level: Level): Log['info'] {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return () => {}
    return (message, facts) =>
      write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...facts })}\n`)
  }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

/** What of an error may stand in a log. */
export function shown(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: String(error) }
  const { cause } = error
  return { error: error.message, stack: error.stack, ...(cause instanceof Error && { cause: cause.message }) }
}
