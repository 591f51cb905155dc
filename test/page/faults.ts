/**
 * What keeps people from using a page, found in the browser itself: controls without a name, text too faint
 * to read, targets too small to hit, ids used twice, headings out of order, and anything wider than the
 * screen.
 */
import type { Page } from 'playwright-core'

/* oxlint-disable unicorn/consistent-function-scoping -- what runs in the browser takes nothing along from here */
export async function faultsOf(tab: Page): Promise<readonly string[]> {
  return await tab.evaluate(() => {
    const faults: string[] = []
    const shown = (element: Element): boolean => element.checkVisibility({ visibilityProperty: true })
    const called = (element: Element): string =>
      `${element.tagName.toLowerCase()}.${element.className} ${element.textContent?.trim().slice(0, 40)}`

    for (const control of document.querySelectorAll<HTMLInputElement>('a, button, input, select, textarea')) {
      const labels = [...(control.labels ?? [])].map((label) => label.textContent).join('')
      const name = control.getAttribute('aria-label') ?? (labels || control.textContent)
      if (!name?.trim()) faults.push(`no name: ${called(control)}`)
      const box = (
        control.type === 'radio' ? (control.labels?.[0] ?? control) : control
      ).getBoundingClientRect()
      const isInText = getComputedStyle(control).display === 'inline'
      if (shown(control) && !isInText && Math.min(box.width, box.height) < 24) {
        faults.push(
          `too small to hit, ${Math.round(box.width)} × ${Math.round(box.height)}: ${called(control)}`,
        )
      }
    }

    const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
    for (const id of ids.filter((one, at) => ids.indexOf(one) !== at)) faults.push(`twice: #${id}`)
    for (const element of document.querySelectorAll('[aria-labelledby]')) {
      const id = element.getAttribute('aria-labelledby') ?? ''
      if (!document.getElementById(id)) faults.push(`no such label: ${id}`)
    }

    const levels = [...document.querySelectorAll('h1, h2, h3, h4')].map(({ tagName }) => Number(tagName[1]))
    if (levels.filter((level) => level === 1).length !== 1) faults.push('not one h1')
    levels.forEach((level, at) => {
      if (level > (levels[at - 1] ?? 0) + 1) faults.push(`h${level} after h${levels[at - 1] ?? 0}`)
    })

    const numbers = (color: string): readonly number[] => (color.match(/[\d.]+/g) ?? []).map(Number)
    const luminance = (color: string): number => {
      const [red = 0, green = 0, blue = 0] = numbers(color).map((value) => {
        const part = value / 255
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const behind = (element: Element | null): string => {
      if (!element) return 'rgb(255, 255, 255)'
      const { backgroundColor } = getComputedStyle(element)
      return (numbers(backgroundColor)[3] ?? 1) > 0 ? backgroundColor : behind(element.parentElement)
    }
    for (const element of document.querySelectorAll('body *')) {
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim())
      if (!hasText || !shown(element) || element.matches(':disabled, .hidden, .skip, option')) continue
      const { color, fontSize, fontWeight } = getComputedStyle(element)
      const [light = 0, dark = 0] = [luminance(color), luminance(behind(element))].sort((a, b) => b - a)
      const isLarge = Number.parseFloat(fontSize) >= (Number(fontWeight) >= 700 ? 18.66 : 24)
      const contrast = (light + 0.05) / (dark + 0.05)
      if (contrast < (isLarge ? 3 : 4.5)) faults.push(`contrast ${contrast.toFixed(1)}: ${called(element)}`)
    }

    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth > clientWidth) faults.push(`${scrollWidth} wide on a screen of ${clientWidth}`)
    return faults
  })
}
