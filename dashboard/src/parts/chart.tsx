/**
 * A chart over time, drawn by uPlot in the colours of the page, as wide as its place. What it shows stands
 * in words too, for whoever cannot see it.
 */
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'

export interface Line {
  readonly name: string
  /** A custom property of the style sheet. */
  readonly color: string
  readonly values: readonly (number | null)[]
  readonly unit?: string
}

export interface ChartProps {
  readonly title: string
  readonly words: string
  /** Seconds since 1970. */
  readonly at: readonly number[]
  readonly lines: readonly Line[]
  /** Bars that stand on each other, the first at the bottom; otherwise lines. */
  readonly stacked?: boolean
  readonly range?: readonly [number, number]
}

export function Chart({ title, words, at, lines, stacked = false, range }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<uPlot>(undefined)
  const data = dataOf(at, lines, stacked)
  const latest = useRef(data)
  const shape = JSON.stringify([lines.map(({ name, color, unit }) => [name, color, unit]), stacked, range])

  useEffect(() => {
    latest.current = data
    drawn.current?.setData(data)
  })

  useEffect(() => {
    const target = place.current
    if (!target) return
    const draw = (): void => {
      drawn.current?.destroy()
      const options = optionsOf(target, JSON.parse(shape) as Shape)
      drawn.current = new uPlot(options, latest.current, target)
    }
    draw()
    const resized = new ResizeObserver(() => drawn.current?.setSize(sizeOf(target)))
    resized.observe(target)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', draw)
    return () => {
      resized.disconnect()
      dark.removeEventListener('change', draw)
      drawn.current?.destroy()
      drawn.current = undefined
    }
  }, [shape])

  return (
    <figure className="chart">
      <figcaption>{title}</figcaption>
      <div ref={place} role="img" aria-label={words} />
    </figure>
  )
}

type Shape = readonly [
  lines: readonly (readonly [name: string, color: string, unit: string | null])[],
  stacked: boolean,
  range: readonly [number, number] | null,
]

/** The whole stack is drawn first, then each part of it that is lower, over it. */
function dataOf(at: readonly number[], lines: readonly Line[], stacked: boolean): uPlot.AlignedData {
  if (!stacked) return [[...at], ...lines.map(({ values }) => [...values])]
  const sums = lines.map((_, count) =>
    at.map((__, step) => lines.slice(0, count + 1).reduce((sum, { values }) => sum + (values[step] ?? 0), 0)),
  )
  return [[...at], ...sums.toReversed()]
}

function sizeOf(target: HTMLElement): { width: number; height: number } {
  return { width: Math.max(target.clientWidth, 200), height: innerWidth >= 1_600 ? 240 : 150 }
}

function optionsOf(target: HTMLElement, [lines, stacked, range]: Shape): uPlot.Options {
  const style = getComputedStyle(target)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  const axis: uPlot.Axis = {
    stroke: color('--quiet'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: `${innerWidth >= 1_600 ? 15 : 12}px system-ui, sans-serif`,
  }
  const bars = uPlot.paths.bars?.({ size: [0.8, 40] })
  const order = stacked ? lines.toReversed() : lines
  return {
    ...sizeOf(target),
    // To the right, half of the last label of the axis: it stands under the end of the line.
    padding: [8, 24, 0, 0],
    cursor: { drag: { x: false, y: false }, y: false },
    scales: {
      x: { time: true, range: withRoom },
      y: { range: range ? () => [range[0], range[1]] : fromZero },
    },
    axes: [
      { ...axis, size: 32, values: (_, splits) => splits.map(hourAndMinute) },
      {
        ...axis,
        size: 52,
        values: (_, splits) => splits.map((value) => `${short(value)}${order[0]?.[2] ?? ''}`),
      },
    ],
    series: [
      { label: 'Time', value: (_, value) => (value === null ? '–' : hourAndMinute(value)) },
      ...order.map(([label, name, unit], index): uPlot.Series => ({
        label,
        stroke: color(name),
        width: stacked ? 0 : 2,
        points: { show: !stacked, size: 5, fill: color(name) },
        value: (self, value, _, step) => {
          if (value === null || step === null) return '–'
          const below = stacked && index + 1 < order.length ? (self.data[index + 2]?.[step] ?? 0) : 0
          return `${Math.round((value - below) * 10) / 10}${unit ?? ''}`
        },
        ...(stacked && { fill: color(name), ...(bars && { paths: bars }) }),
      })),
    ],
  }
}

/** Half a step at either end: a bar stands in the middle of its step. */
function withRoom(self: uPlot, min: number, max: number): [number, number] {
  const half = (max - min) / Math.max(1, (self.data[0].length - 1) * 2)
  return [min - half, max + half]
}

function fromZero(_: uPlot, __: number, max: number): [number, number] {
  return [0, Math.max(4, Math.ceil(max * 1.1))]
}

function hourAndMinute(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

function short(value: number): string {
  return value >= 10_000 ? `${Math.round(value / 1_000)}k` : String(value)
}
