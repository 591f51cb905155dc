/** Headers put on a Node response that has some already: all anew, or those of a list over others of their names. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { eachHeader, type GivenHeaders } from './kept-headers.js'

export function resetHeaders(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name)
  for (const name in headers) response.setHeader(name, headers[name] as string)
}

/** In the place of `writeHead`, which (in Node 20, for one) sends only the last of a name that a list has twice. */
export function setListed(response: ServerResponse, headers: GivenHeaders): void {
  eachHeader(headers, (name) => response.removeHeader(name))
  eachHeader(headers, (name, value) => response.appendHeader(name, value as string))
}
