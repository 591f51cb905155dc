/** The table over express. */
import { runTable } from './table.js'

runTable('express')
