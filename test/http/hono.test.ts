/** The table over hono. */
import { runTable } from './table.js'

runTable('hono')
