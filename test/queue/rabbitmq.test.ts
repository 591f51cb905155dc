/** The scenarios of the queue guard on RabbitMQ, on a real server. */
import { startRabbitmq } from '../../scripts/servers/rabbitmq.mjs'
import { scenarios } from './scenarios.js'

scenarios('RabbitMQ', 'rabbitmq', () =>
  startRabbitmq({ settings: { consumer_timeout: 3_000 }, channelTickMs: 500 }),
)
