/** The table over Next.js, built and served by Next itself. */
import { rmSync } from 'node:fs'
import { afterAll } from 'vitest'
import { buildNext } from './site.js'
import { runTable } from './table.js'

let folder: string | undefined
runTable('next', async () => (folder = await buildNext()))
afterAll(() => folder && rmSync(folder, { recursive: true, force: true }))
