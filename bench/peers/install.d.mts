/** The type of install.mjs, for the tests that need the packages. */
export function ensurePeers(say: (text: string) => void): void
