/**
 * Text for a terminal. What others wrote (keys, reasons, error messages) cannot move the cursor or change colours, and
 * is as wide as the terminal will show it.
 */
const CONTROL = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const ESCAPED: Readonly<Record<string, string>> = {
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
}

export function safe(text: string): string {
  return text.replaceAll(CONTROL, (char) => {
    const code = char.codePointAt(0) ?? 0
    return ESCAPED[char] ?? String.raw`\u${code.toString(16).padStart(4, '0')}`
  })
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const ASCII = /^[\u0020-\u007e]*$/
/** East Asian wide and fullwidth, and emoji: two columns. */
const EAST_ASIAN =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f]/
const FULL_WIDTH = /[\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]+$/u

export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += columnsOf(segment)
  return width
}

function columnsOf(segment: string): number {
  if (ZERO.test(segment)) return 0
  return EAST_ASIAN.test(segment) || FULL_WIDTH.test(segment) || EMOJI.test(segment) ? 2 : 1
}

/** At most `width` columns; what had to go is shown by a dot. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    const columns = columnsOf(segment)
    if (used + columns > width - 1) break
    kept += segment
    used += columns
  }
  return `${kept}…`
}
