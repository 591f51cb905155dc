/**
 * Debian's Chromium, for the tests that walk the page: installed where it is missing, and where it is. Fonts
 * come with it, because a machine without any would measure every word as nothing.
 */
import { ensureDebian } from './debian.mjs'

const CHROMIUM = '/usr/bin/chromium'
const FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf'

/** Where the browser is, for playwright-core's `executablePath`. */
export async function ensureChromium() {
  await ensureDebian(['chromium', 'fonts-dejavu-core'], [CHROMIUM, FONT])
  return CHROMIUM
}
