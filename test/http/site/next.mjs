/** The site of the table on Next.js: built before, in the folder that is given. */
import { createServer } from 'node:http'
import next from 'next'

const app = next({ dev: false, dir: process.env.IBID_TEST_NEXT })
await app.prepare()
const handle = app.getRequestHandler()
const server = createServer((request, response) => void handle(request, response))
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
