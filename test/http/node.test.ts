/** The table over node. */
import { runTable } from './table.js'

runTable('node')
