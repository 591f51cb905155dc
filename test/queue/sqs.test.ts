/** The scenarios of the queue guard on SQS's protocol: Amazon's client and a stand-in for the server, not SQS. */
// @ts-expect-error: a plain script without types
import { startSqsStandIn } from '../fixtures/brokers/sqs-stand-in.mjs'
import { scenarios } from './scenarios.js'

scenarios(
  'SQS, a stand-in',
  'sqs',
  startSqsStandIn as () => Promise<{ readonly url: string; stop(): Promise<void> }>,
)
