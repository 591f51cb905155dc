/** The scenarios of the queue guard on BullMQ, on a real server. */
import { startRedis } from '../../scripts/servers/redis.mjs'
import { scenarios } from './scenarios.js'

scenarios('BullMQ', 'bullmq', () => startRedis())
