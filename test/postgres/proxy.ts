/** A proxy in front of a real server, which ends a connection at the very moment that a test asks for. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Undefined: this piece is passed on. Otherwise the connection ends here, and these bytes are the client's last. */
export type Listener = (chunk: Buffer, from: 'client' | 'server') => Buffer | undefined

/** The URL that leads through it. Connections are counted from 1; it is gone when the test has finished. */
export async function openProxy(url: string, listenerOf: (connection: number) => Listener): Promise<string> {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  let opened = 0
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const listener = listenerOf(++opened)
    sockets.push(client, upstream)
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy())
    const relay = (from: 'client' | 'server', chunk: Buffer): void => {
      const last = listener(chunk, from)
      if (last === undefined) return void (from === 'client' ? upstream : client).write(chunk)
      client.end(last)
      upstream.destroy()
    }
    client.on('data', (chunk) => relay('client', chunk))
    upstream.on('data', (chunk) => relay('server', chunk))
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const through = new URL(url)
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return through.href
}
