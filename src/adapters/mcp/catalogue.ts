/**
 * What the upstream's tools say of themselves. Learned from the lists that pass, or asked for: a client may call
 * a tool without having listed any. Asking is shared, and a list that cannot be had is no list: its tools are
 * writes then.
 */
import { isObject, type JsonObject } from './message.js'
import type { ListedTool } from './tool-terms.js'

export interface Catalogue {
  learn(result: JsonObject): void
  forget(): void
  has(name: string): boolean
  /** `ask` gets one page; undefined: there is none to be had. */
  find(name: string, ask: AskPage): Promise<ListedTool | undefined>
  known(name: string): ListedTool | undefined
}

export type AskPage = (cursor: string | undefined) => Promise<JsonObject | undefined>

const MOST_PAGES = 100

export function createCatalogue(): Catalogue {
  let tools = new Map<string, ListedTool>()
  let asking: Promise<void> | undefined

  function learn({ tools: listed }: JsonObject): void {
    if (!Array.isArray(listed)) return
    for (const tool of listed as readonly unknown[]) {
      if (isObject(tool) && typeof tool['name'] === 'string') tools.set(tool['name'], tool)
    }
  }

  async function askAll(ask: AskPage): Promise<void> {
    let cursor: string | undefined
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const page = await ask(cursor).catch(() => undefined)
      if (!page) return
      learn(page)
      cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : undefined
      if (cursor === undefined) return
    }
  }

  return {
    learn,
    forget() {
      tools = new Map()
    },
    has: (name) => tools.has(name),
    known: (name) => tools.get(name),
    async find(name, ask) {
      if (!tools.has(name)) {
        asking ??= askAll(ask).finally(() => (asking = undefined))
        await asking
      }
      return tools.get(name)
    },
  }
}
