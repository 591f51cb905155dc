/** `ibid/queue`: a message in, a verdict out; and the header in which a producer says what the message is. */
export { consume, type Consumer } from './consume.js'
export { createDeliveries, type Deliveries, type Told, type Watch } from './deliveries.js'
export { MESSAGE_KEY_HEADER, withMessageKey } from './message-key.js'
export { poll, type Running } from './poll.js'
export {
  type BehindBroker,
  type ConsumeOptions,
  type MessageCheck,
  mustLayDown,
  notYours,
  readConcurrency,
} from './settings.js'
export type { Ack, Dead, Retry, Verdict } from './verdict.js'
