/**
 * Where on the page somebody is. It stands in the fragment, so that it can be linked to and the back button
 * works.
 */
import { useEffect, useState } from 'react'
import type { Address } from './shapes.js'

export interface Place {
  readonly view: string
  readonly query: URLSearchParams
}

export function usePlace(): Place {
  const [hash, move] = useState(location.hash)
  useEffect(() => {
    const onChange = (): void => move(location.hash)
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  const mark = hash.indexOf('?')
  const view = hash.slice(0, mark < 0 ? undefined : mark).replace(/^#\/?/, '')
  return { view: view === '' ? 'now' : view, query: new URLSearchParams(mark < 0 ? '' : hash.slice(mark)) }
}

export function linkTo(view: string, query: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  return given.length === 0 ? `#/${view}` : `#/${view}?${new URLSearchParams(given).toString()}`
}

export function linkToReceipt({ tenant, scope, key }: Address): string {
  return linkTo('receipt', { tenant, scope, key })
}
