/** The scenarios of the queue guard on NATS JetStream, on a real server. */
import { startNats } from '../../scripts/servers/nats.mjs'
import { scenarios } from './scenarios.js'

scenarios('NATS JetStream', 'nats', () => startNats())
