/** Types of chromium.mjs. */
export function ensureChromium(): Promise<string>
