/** An MCP server of one's own, guarded: the client sends a call again under a new request id, and it is done once. */
import { createIbid } from 'ibid'
import { guardTransport } from 'ibid/mcp'
import { memoryStore } from 'ibid/memory'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

const ibid = createIbid({ store: memoryStore(), tenant: 'acme' })
const refunds = []

const server = new McpServer({ name: 'payments', version: '1.0.0' })
server.registerTool('issue_refund', { inputSchema: z.object({ payment: z.string() }) }, ({ payment }) => {
  refunds.push(payment)
  return { content: [{ type: 'text', text: `refund ${refunds.length} of ${payment}` }] }
})

const [near, far] = InMemoryTransport.createLinkedPair()
await server.connect(guardTransport(far, { ibid, tenant: 'acme', server: 'payments' }))
const client = new Client({ name: 'agent', version: '1.0.0' })
await client.connect(near)

const call = {
  name: 'issue_refund',
  arguments: { payment: 'pay_1' },
  _meta: { 'ibid/idempotencyKey': 'run_7:step_3' },
}
for (const time of ['first', 'again']) {
  const { content, _meta } = await client.callTool(call)
  console.log(`${time}: ${content[0].text}, replay: ${_meta['ibid/idempotency'].replay}`)
}

await client.close()
await ibid.close()
if (refunds.length !== 1) process.exitCode = 1
