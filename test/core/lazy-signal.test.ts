import { expect, it, vi } from 'vitest'
import { LazySignal } from '../../src/core/lazy-signal.js'

const first = new Error('the first')
const second = new Error('the second')

it('has not aborted before it does', () => {
  const lazy = new LazySignal()
  expect([lazy.reason, lazy.signal.aborted]).toEqual([undefined, false])
  expect(() => lazy.throwIfAborted()).not.toThrow()
})

it('tells whoever has read its signal, once, with the first reason', () => {
  const lazy = new LazySignal()
  const { signal } = lazy
  const heard = vi.fn<() => void>()
  signal.addEventListener('abort', heard)
  lazy.abort(first)
  lazy.abort(second)
  expect(heard).toHaveBeenCalledOnce()
  expect([signal.reason, lazy.reason]).toEqual([first, first])
  expect(() => lazy.throwIfAborted()).toThrow(first)
})

it('gives a signal that has aborted to whoever reads it afterwards, always the same one', () => {
  const lazy = new LazySignal()
  lazy.abort(first)
  lazy.abort(second)
  expect([lazy.signal.aborted, lazy.signal.reason]).toEqual([true, first])
  expect(lazy.signal).toBe(lazy.signal)
})
