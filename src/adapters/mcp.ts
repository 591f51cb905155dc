/** `ibid/mcp`: guards one's own MCP server, and makes a gateway in front of any, over stdio or HTTP. */
export type { GuardOptions } from './mcp/guard.js'
export { guardTransport, type GuardTransportOptions, type McpTransport } from './mcp/guard-transport.js'
export { httpGateway, type HttpGatewayOptions } from './mcp/http-gateway.js'
export { stdioGateway, type StdioGatewayOptions } from './mcp/stdio-gateway.js'
export type { McpContract } from './mcp/tool-terms.js'
