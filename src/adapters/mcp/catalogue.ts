/**
 * What the upstream's tools say of themselves. Learned from the lists that pass, or asked for: a client may call
 * a tool without having listed any. Asking is shared. A tool that is on no list is a write; of one whose list could
 * not be had nothing is known, and the next time there may be.
 */
import { isObject, type JsonObject, NO_METHOD, type Reply } from './message.js'
import type { ListedTool, Listing } from './tool-terms.js'

export interface Catalogue {
  learn(result: JsonObject): void
  forget(): void
  has(name: string): boolean
  /** `ask` gets one page; undefined: it could not be had. */
  find(name: string, ask: AskPage): Promise<Listing>
  known(name: string): ListedTool | undefined
}

/** A page of `tools/list`; a server that has no such method has no tools to show. */
export function pageOf(reply: Reply | undefined): JsonObject | undefined {
  if (!reply) return undefined
  if ('result' in reply) return reply.result
  return reply.error['code'] === NO_METHOD ? {} : undefined
}

export type AskPage = (cursor: string | undefined) => Promise<JsonObject | undefined>

const MOST_PAGES = 100

export function createCatalogue(): Catalogue {
  let tools = new Map<string, ListedTool>()
  let asking: Promise<boolean> | undefined

  function learn({ tools: listed }: JsonObject): void {
    if (!Array.isArray(listed)) return
    for (const tool of listed as readonly unknown[]) {
      if (isObject(tool) && typeof tool['name'] === 'string') tools.set(tool['name'], tool)
    }
  }

  /** False: there may be more than was learned. */
  async function askAll(ask: AskPage): Promise<boolean> {
    let cursor: string | undefined
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const page = await ask(cursor).catch(() => undefined)
      if (!page) return false
      learn(page)
      cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : undefined
      if (cursor === undefined) break
    }
    return true
  }

  return {
    learn,
    forget() {
      tools = new Map()
    },
    has: (name) => tools.has(name),
    known: (name) => tools.get(name),
    async find(name, ask) {
      const known = tools.get(name)
      if (known) return known
      asking ??= askAll(ask).finally(() => (asking = undefined))
      const isWhole = await asking
      return tools.get(name) ?? (isWhole ? undefined : 'not told')
    },
  }
}
