/**
 * The page, from memory: whatever was built into dist/dashboard, read once at the start, so that no request can
 * name a file. Nothing on it comes from elsewhere, and the browser is told to keep to that.
 */
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Page {
  /** False: there is nothing at this path. */
  serve(incoming: IncomingMessage, outgoing: ServerResponse, path: string): boolean
}

interface Stored {
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>
  readonly etag: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const GUARDED = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
}

export function createPage(folder: string = fileURLToPath(new URL('../dashboard', import.meta.url))): Page {
  const files = new Map<string, Stored>()
  if (existsSync(join(folder, 'index.html'))) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name)
      if (statSync(path).isFile())
        files.set(`/${name.replaceAll('\\', '/')}`, stored(name, readFileSync(path)))
    }
    files.set('/', files.get('/index.html') as Stored)
  } else files.set('/', stored('index.html', Buffer.from(PLAIN)))

  return {
    serve(incoming, outgoing, path) {
      const file = files.get(path)
      if (!file || (incoming.method !== 'GET' && incoming.method !== 'HEAD')) return false
      incoming.resume()
      if (incoming.headers['if-none-match'] === file.etag) outgoing.writeHead(304, file.headers).end()
      else {
        outgoing.writeHead(200, { ...file.headers, 'content-length': file.bytes.length })
        outgoing.end(incoming.method === 'HEAD' ? undefined : file.bytes)
      }
      return true
    },
  }
}

function stored(name: string, bytes: Buffer): Stored {
  const etag = `"${hash('sha256', bytes).slice(0, 32)}"`
  // Built files carry a digest in their name; only the page itself is called the same for ever.
  const caching = name.startsWith('assets') ? 'public, max-age=31536000, immutable' : 'no-cache'
  const type = TYPES[extname(name)] ?? 'application/octet-stream'
  return { bytes, etag, headers: { ...GUARDED, 'content-type': type, 'cache-control': caching, etag } }
}

const PLAIN = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>ibid</title>
<h1>ibid</h1>
<p>Do it once; after that, ibid. This server is running; its page has not been built.</p>
<p>The API is under <code>/v1</code> and described at <code>/v1/openapi.json</code>. Every request needs a key:</p>
<pre>ibid keys create --tenant acme --rights read,write,resolve
curl -H 'authorization: Bearer ibid_…' http://localhost:7878/v1/me</pre>
</html>
`
