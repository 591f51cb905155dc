/** Defects planted in the sources, one at a time: a test has to notice each. The control is one that none can. */
import { runNode } from './work.mjs'

export const planted = {
  id: 'planted',
  property: 'Every planted defect of the sources is caught by a test',
  async run({ quick, progress }) {
    const only = quick ? ['--only', 'fingerprint'] : []
    const { stdout } = await runNode(['scripts/planted.mjs', ...only], { onOut: progress })
    const read = /(\d+) of (\d+) planted defects caught/.exec(stdout)
    if (!read) return { error: `planted.mjs came to no end: ${stdout.trim().slice(-300)}` }
    const [caught, all] = [Number(read[1]), Number(read[2])]
    const control = await runNode(['scripts/planted.mjs', '--control'])
    const isReported = control.code === 1 && control.stdout.includes('NOT CAUGHT: control')
    return {
      ran: { 'planted defects': all, caught },
      tried: all,
      exhaustive: true,
      violations: all - caught,
      control: { planted: 1, caught: isReported ? 1 : 0 },
      details: [...stdout.matchAll(/^NOT CAUGHT: (.+)$/gm)].map(([, name]) => `not caught: ${name}`),
    }
  },
}
