import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Member, Roster } from '../../src/core/roster.js'

const newMember = (): Member => ({ at: -1 })

it('has a member from when it was added until it is deleted, which happens once', () => {
  const roster = new Roster<Member>()
  const one = newMember()
  expect([roster.has(one), roster.delete(one)]).toEqual([false, false])
  roster.add(one)
  expect([roster.has(one), roster.size, roster.all()]).toEqual([true, 1, [one]])
  expect([roster.delete(one), roster.delete(one), roster.has(one), roster.size]).toEqual([
    true,
    false,
    false,
    0,
  ])
})

it('lets a member come back', () => {
  const roster = new Roster<Member>()
  const [one, two] = [newMember(), newMember()]
  roster.add(one)
  roster.add(two)
  roster.delete(one)
  roster.add(one)
  expect(new Set(roster.all())).toEqual(new Set([one, two]))
})

it('has the same members as a set, whoever comes and goes in whatever order', () => {
  const places = fc.array(fc.nat({ max: 7 }), { maxLength: 60 })
  fc.assert(
    fc.property(places, (moves) => {
      const members = Array.from({ length: 8 }, newMember)
      const roster = new Roster<Member>()
      const set = new Set<Member>()
      for (const place of moves) {
        const member = members[place] as Member
        const goes = set.delete(member)
        expect(roster.delete(member)).toBe(goes)
        if (!goes) {
          set.add(member)
          roster.add(member)
        }
        expect(roster.size).toBe(set.size)
        expect(new Set(roster.all())).toEqual(set)
        expect(members.map((one) => roster.has(one))).toEqual(members.map((one) => set.has(one)))
      }
    }),
  )
})

it('shows each member once, also while those that were shown are deleted', () => {
  const roster = new Roster<Member>()
  const members = Array.from({ length: 5 }, newMember)
  for (const member of members) roster.add(member)
  const shown: Member[] = []
  roster.each((member) => {
    shown.push(member)
    if (shown.length % 2 === 1) roster.delete(member)
  })
  expect(shown).toEqual(members)
  expect(roster.size).toBe(2)
})

it('shows nobody who was deleted by another that was shown before, and nobody twice', () => {
  const roster = new Roster<Member>()
  const members = Array.from({ length: 3 }, newMember)
  for (const member of members) roster.add(member)
  const shown: Member[] = []
  roster.each((member) => {
    shown.push(member)
    for (const other of members) if (other !== member) roster.delete(other)
  })
  expect(shown).toEqual([members[0]])
  expect(roster.all()).toEqual(shown)
})
