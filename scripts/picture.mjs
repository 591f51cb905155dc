/**
 * Draws docs/images/storms.svg, the picture that the README opens with, from docs/harbor.json: each storm a dot, at the
 * share of its refunds that were paid twice.
 *
 *   node scripts/harbor.mjs --seeds 100 --stores sqlite,postgres,redis --keep docs/harbor.json
 *   node scripts/picture.mjs
 */
import { readFileSync, writeFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
const storms = JSON.parse(readFileSync(new URL('docs/harbor.json', root), 'utf8'))

const WIDTH = 960
const HEIGHT = 400
const PLOT = { left: 64, right: 936, top: 84, bottom: 340 }
/** What happened at Harbor before it had guards, and after four layers made by hand. */
const HARBOR = { before: 0.44, after: 0.023 }
const ARMS = {
  'no guards': { color: '#d64545' },
  'all layers': { color: '#1f9d68' },
}

const share = ({ duplicateRefunds, refunds }) => duplicateRefunds / refunds
const percent = (part) => `${(part * 100).toFixed(part === 0 || part >= 0.1 ? 0 : 1)} %`
const of = (arm) => storms.filter((storm) => storm.arm === arm)
const sum = (list, field) => list.reduce((total, storm) => total + storm[field], 0)
const count = (number) => number.toLocaleString('en')

const seeds = [...new Set(storms.map(({ seed }) => seed))].toSorted((a, b) => a - b)
const stores = [...new Set(storms.map(({ store }) => store))]
const round = (number) => Math.round(number * 10) / 10
const x = (storm) =>
  round(
    PLOT.left +
      ((seeds.indexOf(storm.seed) + 0.5 + (stores.indexOf(storm.store) - 1) * 0.3) / seeds.length) *
        (PLOT.right - PLOT.left),
  )
const y = (part) => round(PLOT.bottom - part * (PLOT.bottom - PLOT.top))

function dots(arm, radius) {
  const dot = (storm) => `<circle cx="${x(storm)}" cy="${y(share(storm))}" r="${radius}"/>`
  return `<g fill="${ARMS[arm].color}" fill-opacity="0.8">\n${of(arm).map(dot).join('\n')}\n</g>`
}

const text = (left, top, words, style = '') => `<text x="${left}" y="${top}" ${style}>${words}</text>`
const line = (part, style) =>
  `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(part)}" y2="${y(part)}" ${style}/>`
const grid = [0, 0.25, 0.5, 0.75, 1]
  .map(
    (part) =>
      line(part, 'stroke="#e3e7ec"') +
      text(PLOT.left - 10, y(part) + 4, percent(part), 'text-anchor="end" fill="#66717f"'),
  )
  .join('\n')
const mark = (part, words, lift) =>
  line(part, 'stroke="#8a94a3" stroke-dasharray="4 4"') +
  text(PLOT.right, y(part) - lift, words, 'text-anchor="end" fill="#4a5462"')

const [open, guarded] = [of('no guards'), of('all layers')]
const openShare = sum(open, 'duplicateRefunds') / sum(open, 'refunds')
const guardedTwice = sum(guarded, 'duplicateRefunds')
const title = 'The same storms of retries, redeliveries, time-outs and kills'
const named = (arm, words) => `<tspan fill="${ARMS[arm].color}" font-weight="700">${words}</tspan>`
const paid = (list, part) => `${part} of ${count(sum(list, 'refunds'))}`
const said = [
  `${named('no guards', 'no guards')}: ${paid(open, percent(openShare))} refunds paid twice`,
  `${named('all layers', 'ibid')}: ${paid(guarded, count(guardedTwice))} paid twice, ${sum(guarded, 'lost')} lost`,
]
const NAMES = { sqlite: 'SQLite', postgres: 'Postgres', redis: 'Redis' }
const on = stores.map((name) => NAMES[name] ?? name).join(', ')
const legend = [
  `each dot a storm of ${storms[0].refunds} refunds, at the share of them that was paid twice; ` +
    `storms 1 to ${seeds.length} from left to right`,
  `green: on ${on}. Processes were killed with SIGKILL, refunds counted by the ledger itself.`,
]
const font = `font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="13"`

writeFileSync(
  new URL('docs/images/storms.svg', root),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}" ${font}>
<rect width="${WIDTH}" height="${HEIGHT}" rx="10" fill="#ffffff"/>
${text(PLOT.left, 34, title, 'font-size="18" font-weight="700" fill="#1d2530"')}
${text(PLOT.left, 60, said.join('<tspan fill="#8a94a3">  ·  </tspan>'), 'font-size="15" fill="#1d2530"')}
${grid}
${mark(HARBOR.before, `Harbor Payments, before: ${percent(HARBOR.before)}`, 6)}
${mark(HARBOR.after, `after four layers made by hand: ${percent(HARBOR.after)}`, 6)}
${dots('no guards', 4)}
${dots('all layers', 2.4)}
${text(PLOT.left, HEIGHT - 32, legend[0], 'fill="#66717f"')}
${text(PLOT.left, HEIGHT - 13, legend[1], 'fill="#66717f"')}
</svg>
`,
)
console.log(`docs/images/storms.svg: ${open.length} storms without guards, ${guarded.length} with all layers`)
