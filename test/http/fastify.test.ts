/** The table over fastify. */
import { runTable } from './table.js'

runTable('fastify')
