/** The protocol as a Promela model, every reachable state of it visited by Spin, for each policy. */
import { runJson } from './work.mjs'

export const model = {
  id: 'model',
  property: 'No reachable state of the protocol model breaks a promise',
  async run({ quick, progress }) {
    const args = ['scripts/model.mjs', '--json', ...(quick ? [] : ['--full'])]
    const { runs, faults, limits, states, spin, search } = await runJson(args, { onLine: progress })
    const sum = (name) => runs.reduce((total, run) => total + run[name], 0)
    return {
      ran: { 'model states': states, transitions: sum('transitions'), runs: runs.length },
      tried: states,
      exhaustive: true,
      violations: runs.filter(({ complete }) => !complete).length,
      control: { planted: faults.length, caught: faults.filter(({ caught }) => caught).length },
      note: `${spin}, ${search}, at most ${Math.round(Math.max(...runs.map(({ memoryMb }) => memoryMb)))} MB`,
      details: [
        ...runs.map(
          ({ name, defines, states: seen, depth }) =>
            `${name}: ${figure(seen)} states, depth ${depth} (${boundsOf(defines)})`,
        ),
        ...faults.map(({ name, caught }) => `${caught ? 'found' : 'NOT FOUND'}: ${name}`),
        ...limits.map(
          ({ name, open }) => `known limit, ${open ? 'shown by a trace' : 'no longer there'}: ${name}`,
        ),
      ],
    }
  },
}

const figure = (number) => number.toLocaleString('en')

function boundsOf(defines) {
  const bounds = Object.entries(defines).filter(([name, value]) => name !== 'POLICY' && value !== 0)
  return bounds.map(([name, value]) => (value === true ? name : `${name} ${value}`)).join(', ')
}
