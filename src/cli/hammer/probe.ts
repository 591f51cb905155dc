/**
 * Where effects are counted: an address that answers with the number, a command that prints it, a function that
 * gives it.
 */
import { resolve } from 'node:path'
import { IbidError } from '../../core/errors.js'
import { functionTarget } from '../../testing/index.js'
import { exportGiven, urlGiven } from './given.js'
import { runCommand } from './shell.js'

export interface Probe {
  readonly count: () => Promise<number>
  readonly close: () => Promise<void>
}

const ANSWER_MS = 10_000

export async function probeOf(given: string | undefined): Promise<Probe | undefined> {
  if (given === undefined) return undefined
  if (/^https?:/.test(given)) return fromUrl(urlGiven('--probe', given))
  if (/\.[cm]?js(#[\w$]+)?$/.test(given) && !/\s/.test(given)) return await fromExport(given)
  return { count: async () => numberIn(await runCommand('--probe', given, true)), close: nothing }
}

function fromUrl(url: URL): Probe {
  async function count(): Promise<number> {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' })
    const text = await response.text()
    if (response.status === 200) return numberIn(text)
    throw badProbe(`it answered with ${response.status}`)
  }
  return { count, close: nothing }
}

/** In a process of its own: a module that opens connections would keep this one from ending. */
async function fromExport(given: string): Promise<Probe> {
  const { file, name } = exportGiven('--probe', given)
  const target = await functionTarget({ module: resolve(file), name, answerMs: ANSWER_MS })
  return {
    async count() {
      const { kind, said, body } = await target.call({ key: undefined, payload: undefined })
      if (kind === 'done') return numberIn(body)
      throw badProbe(`it ${said} ${body}`)
    },
    close: async () => await target.close(),
  }
}

async function nothing(): Promise<void> {
  // There is nothing to close.
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
