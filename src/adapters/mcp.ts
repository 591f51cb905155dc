/**
 * `ibid/mcp`: a broker's tools over MCP, one's own MCP server guarded, and a gateway in front of any, stdio or
 * HTTP.
 */
export {
  type BrokerHandlers,
  brokerHandlers,
  type BrokerHandlersOptions,
  type McpResult,
  type McpTool,
} from './mcp/broker-handlers.js'
export type { GuardOptions } from './mcp/guard.js'
export { guardTransport, type GuardTransportOptions, type McpTransport } from './mcp/guard-transport.js'
export { httpGateway, type HttpGatewayOptions } from './mcp/http-gateway.js'
export { stdioGateway, type StdioGatewayOptions } from './mcp/stdio-gateway.js'
export type { Answered, McpCheck } from './mcp/status-check.js'
export type { McpContract } from './mcp/tool-terms.js'
