import { expect, it } from 'vitest'
import { lately } from '../../src/core/lately.js'

const A = { tenant: 'acme', scope: 'refund', key: 'wf_81' }

function counting(most: number) {
  let made = 0
  const of = lately(most, ({ tenant, scope, key }) => `${tenant}/${scope}/${key} ${++made}`)
  return { of, made: () => made }
}

it('makes once what is asked for again', () => {
  const { of, made } = counting(2)
  expect([of(A), of({ ...A })]).toEqual(['acme/refund/wf_81 1', 'acme/refund/wf_81 1'])
  expect(made()).toBe(1)
})

it.each(['tenant', 'scope', 'key'] as const)('[R1] never takes one %s for another', (part) => {
  const { of } = counting(10)
  const other = { ...A, [part]: 'other' }
  expect([of(A), of(other), of(A)].map((text) => text.split(' ')[0])).toEqual(
    [A, other, A].map(({ tenant, scope, key }) => `${tenant}/${scope}/${key}`),
  )
})

it('begins anew when it knows as many as it may', () => {
  const { of, made } = counting(2)
  const asked = (key: string): string => of({ ...A, key })
  asked('1')
  asked('2')
  asked('1')
  expect(made()).toBe(2)
  asked('3')
  asked('3')
  expect(made()).toBe(3)
  asked('1')
  asked('2')
  expect(made()).toBe(5)
})
