/** Figures for the trust table: one line of JSON for each, in the file named by IBID_TRUST; without it, nothing. */
import { appendFileSync } from 'node:fs'

export function report(
  figures: Readonly<Record<string, number | string | boolean | readonly string[]>>,
): void {
  const file = process.env['IBID_TRUST']
  if (file) appendFileSync(file, `${JSON.stringify(figures)}\n`)
}
