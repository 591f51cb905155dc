/** Where effects are counted: an address that answers with the number, a command that prints it, a function that gives it. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { IbidError, invalidIntent } from '../../core/errors.js'
import type { CheckOptions } from '../../testing/index.js'
import { exportGiven, urlGiven } from './given.js'
import { runCommand } from './shell.js'

type Probe = NonNullable<CheckOptions['probe']>

const ANSWER_MS = 10_000

export async function probeOf(given: string | undefined): Promise<Probe | undefined> {
  if (given === undefined) return undefined
  if (/^https?:/.test(given)) return fromUrl(urlGiven('--probe', given))
  if (/\.[cm]?js(#[\w$]+)?$/.test(given) && !/\s/.test(given)) return await fromExport(given)
  return async () => numberIn(await runCommand('--probe', given, true))
}

function fromUrl(url: URL): Probe {
  return async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' })
    const text = await response.text()
    if (response.status === 200) return numberIn(text)
    throw badProbe(`it answered with ${response.status}`)
  }
}

async function fromExport(given: string): Promise<Probe> {
  const { file, name } = exportGiven('--probe', given)
  const exported = (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>
  if (typeof exported[name] === 'function') return exported[name] as Probe
  throw invalidIntent(`--probe: ${file} exports no function ${name}`, 'export one that gives a number')
}

function numberIn(text: string): number {
  if (/^\s*\d+\s*$/.test(text)) return Number(text)
  throw badProbe(`it said ${JSON.stringify(text.slice(0, 100))}`)
}

function badProbe(what: string): IbidError {
  return new IbidError(`--probe gave no number: ${what}`, {
    code: 'BAD_PROBE',
    retriable: false,
    action: 'let it answer with the number of effects so far, and nothing else',
  })
}
