/**
 * Something from the API, loaded when it is shown, again every so often, and again when `version` changes.
 * While it is loaded again, and when that fails, the last answer stays: a person on call reads old figures
 * rather than none.
 */
import { useCallback, useEffect, useState } from 'react'
import type { Api, Problem } from './api.js'

export interface Loaded<T> {
  readonly value: T | undefined
  readonly problem: Problem | undefined
  readonly reload: () => void
}

interface Held<T> {
  readonly path: string | undefined
  readonly value?: T
  readonly problem?: Problem
}

/** `path` undefined: nothing is asked for. */
export function useLoaded<T>(
  api: Api,
  path: string | undefined,
  everyMs = 0,
  version: string | number = 0,
): Loaded<T> {
  const [held, hold] = useState<Held<T>>({ path })
  const [asked, ask] = useState(0)
  const reload = useCallback(() => ask((count) => count + 1), [])

  useEffect(() => {
    if (path === undefined) return
    let isWanted = true
    let timer: ReturnType<typeof setTimeout> | undefined
    async function load(from: string): Promise<void> {
      const said = await api.get<T>(from)
      if (!isWanted) return
      if (said.ok) hold({ path: from, value: said.value })
      else hold((last) => ({ ...(last.path === from ? last : { path: from }), problem: said.problem }))
      // Whoever got no answer asks again, however seldom they ask otherwise.
      const nextMs = said.ok ? everyMs : Math.max(everyMs, 2_000)
      if (nextMs > 0) timer = setTimeout(() => void load(from), nextMs)
    }
    void load(path)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [api, path, everyMs, version, asked])

  const current = held.path === path ? held : undefined
  return { value: current?.value, problem: current?.problem, reload }
}
