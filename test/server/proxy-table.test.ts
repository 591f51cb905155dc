/**
 * The scenario table of the HTTP guard, line by line, through the proxy in front of a server that was not
 * changed.
 */
import type { Framework } from '../http/site.js'
import { runTable } from '../http/table.js'

runTable('proxy' as Framework)
