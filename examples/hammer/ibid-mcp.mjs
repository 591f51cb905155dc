/** The same refund as a tool of an MCP server over stdio, guarded, on SQLite. node ibid-mcp.mjs <folder> */
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createIbid } from 'ibid'
import { guardTransport } from 'ibid/mcp'
import { sqliteStore } from 'ibid/sqlite'
import { z } from 'zod'
import { openRefunds } from './refunds.mjs'

const [, , folder] = process.argv
const refunds = openRefunds(folder)
const ibid = createIbid({ store: sqliteStore(`${folder}/ibid.db`), tenant: 'acme' })

function makeServer() {
  const server = new McpServer({ name: 'payments', version: '1.0.0' })
  const inputSchema = z.object({ amount: z.number(), how: z.string().optional() })
  server.registerTool('issue_refund', { inputSchema }, async (refund) => ({
    content: [{ type: 'text', text: JSON.stringify(await refunds.make(refund)) }],
  }))
  return server
}

const contracts = [{ name: 'issue_refund', effect: 'write-non-idempotent', timeout: '5s', lease: '6s' }]
const options = { ibid, tenant: 'acme', server: 'payments', contracts }
serveStdio(makeServer, { transport: guardTransport(new StdioServerTransport(), options) })
process.stdin.on('end', () => process.exit())
