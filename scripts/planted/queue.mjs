/** Defects in what a message is taken for, how often it runs, and what its broker is told. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/guards/queue', 'test/queue')
const behind = inFolder('src/adapters', 'test/queue')

export const queue = [
  {
    name: 'a consumption that the server ends, ends the process',
    file: 'src/adapters/nats/taking.ts',
    find: '  ended.catch(() => undefined)\n',
    put: '',
    tests: ['test/queue/trouble.test.ts'],
  },
  {
    name: 'queue: what a person gave back is handled again without a look',
    file: 'src/guards/queue/work.ts',
    find: 'if (!check || attempt.isFirst)',
    put: 'if (!check || attempt.number === 1)',
    tests: ['test/queue/still-ours.test.ts'],
  },
  {
    name: 'queue: a status check may outlast the lease',
    file: 'src/guards/queue/work.ts',
    find: 'await mustGoOn(attempt)',
    put: 'attempt.signal.throwIfAborted()',
    tests: ['test/queue/still-ours.test.ts'],
  },
  {
    name: "queue: JetStream's ids of two streams are one",
    file: 'src/adapters/nats/message.ts',
    find: '`msg:${stream}:${said}`',
    put: '`msg:${said}`',
    tests: ['test/queue/still-ours.test.ts'],
  },
  {
    name: 'queue: a consumer of JetStream holds messages that it has no room for',
    file: 'src/adapters/nats/taking.ts',
    find: 'max_messages: concurrency - deliveries.size',
    put: 'max_messages: concurrency * 2',
    tests: ['test/queue/still-ours.test.ts'],
  },
  {
    name: 'queue: a message whose dead letter takes its time is delivered again',
    file: 'src/guards/queue/deliveries.ts',
    find: 'guard.working?.start(message)',
    put: '(undefined as (() => void) | undefined)',
    tests: ['test/queue/last-words.test.ts'],
  },
  {
    name: 'queue: what has no text takes the verdict with it',
    file: 'src/guards/queue/verdict.ts',
    find: "    return 'what was thrown cannot be read'\n",
    put: '    return String(error)\n',
    tests: ['test/queue/last-words.test.ts'],
  },
  ...at('consume.ts', 'guard', [
    {
      name: "a producer's key is overlooked, and what was sent twice runs twice",
      find: 'messageKey(queue, tenant, settings.keyOf(message), ',
      put: 'messageKey(queue, tenant, undefined, ',
    },
    {
      name: 'a message that can never work is tried again and again',
      find: 'if (error instanceof Rejected) return dead(error)',
      put: 'if (error instanceof Rejected) return refused(error, settings.delays)',
    },
    {
      name: "a message is blamed for the program's own mistake",
      find: '    fingerprint(payload, identity)\n    return false',
      put: '    fingerprint(payload, identity)\n    return true',
    },
    {
      name: 'a value that a status check found passes for work of this delivery',
      find: 'acked(value, replayed || work.wasDone(), receipt)',
      put: 'acked(value, replayed, receipt)',
    },
  ]),
  ...at('settings.ts', 'guard', [
    {
      name: 'a misspelt recovery of a consumer is a retry',
      find: "  onlyKnown(options, [...KNOWN, ...OF_ADAPTERS], 'a consumer')\n",
      put: '',
    },
  ]),
  ...at('message-key.ts', 'guard', [
    {
      name: 'a key that is no text is turned into some',
      find: "if (typeof said === 'string') return said",
      put: "if (typeof said !== 'function') return JSON.stringify(said)",
    },
  ]),
  ...at('verdict.ts', 'guard', [
    {
      name: 'a message that the guard could not judge is acknowledged, and lost',
      find: "      return { kind: 'retry', delayMs: delays.guardMs, code, reason, error }",
      put: '      return acked(undefined, true, receipt)',
    },
    {
      name: 'the same key with another payload comes back for ever',
      find: "    case 'KEY_REUSED':\n",
      put: '',
    },
  ]),
  ...at('work.ts', 'guard', [
    {
      name: 'a second attempt runs without asking whether the first had done it',
      find: 'if (!check || attempt.isFirst) return undefined',
      put: 'if (!check || attempt.number >= 1) return undefined',
    },
    {
      name: 'a check that cannot tell lets the handler run',
      find: "    if (answer.found === 'unclear')",
      put: "    if (answer.found === 'unclear' && attempt.number > 1_000)",
    },
    {
      name: 'attempts that did nothing are not counted',
      find: 'if (made >= settings.maxAttempts) {',
      put: 'if (made >= settings.maxAttempts * 1_000) {',
    },
  ]),
  ...at('settings.ts', 'guard', [
    {
      name: 'what is to be held for a person is retried',
      find: "recovery: recovery === 'hold' ? 'hold' : 'retry',",
      put: "recovery: 'retry',",
    },
  ]),
  ...at('deliveries.ts', 'flow', [
    {
      name: 'a dead letter that could not be laid down is gone',
      find: "      await told.retry(message, { kind: 'retry', delayMs: DEAD_LETTER_RETRY_MS, code, reason, error })\n",
      put: "      await told.ack(message, { kind: 'ack', value: undefined, replayed: true, reason, receipt: undefined })\n",
    },
  ]),
  ...at('working.ts', 'flow', [
    {
      name: 'the broker hears of progress after the verdict',
      find: '        active.delete(one)\n',
      put: '        if (active.size > 1) active.delete(one)\n',
    },
  ]),
  ...at('deliveries.ts', 'trouble', [
    {
      name: 'a log that throws ends the process of its consumer',
      find: 'quietly(() => watch.onError?.(error, message))',
      put: 'watch.onError?.(error, message)',
    },
  ]),
  ...at('poll.ts', 'trouble', [
    {
      name: 'a log that throws ends the asking',
      find: 'quietly(() => onError(error))',
      put: 'onError(error)',
    },
  ]),
  ...at('consume.ts', 'trouble', [
    {
      name: 'a status check that hangs keeps its held message for ever',
      find: 'askWithin(settings.timeoutMs, ',
      put: 'askWithin(Infinity, ',
    },
  ]),
  ...at('verdict.ts', 'trouble', [
    {
      name: 'a delay that is no time is told to the broker',
      find: 'ms !== undefined && Number.isFinite(ms) && ms >= 0 ?',
      put: 'ms !== undefined ?',
    },
  ]),
  ...behind('bullmq.ts', 'trouble', [
    {
      name: 'a log that throws fails a job for good',
      find: 'quietly(() => options.onVerdict?.(verdict, job))',
      put: 'options.onVerdict?.(verdict, job)',
    },
    {
      name: 'a job is taken for the one that had its number before',
      find: '`${id}@${timestamp}`',
      put: '`${id}`',
    },
  ]),
  ...behind('amqp.ts', 'trouble', [
    {
      name: 'a delay longer than a timer is none',
      find: 'sleep(Math.min(delayMs, LONGEST_TIMER_MS), ',
      put: 'sleep(delayMs, ',
    },
  ]),
  ...behind('nats/message.ts', 'adapters', [
    {
      name: 'a message is taken for the one that had its place before',
      find: '@${info.timestampNanos}`',
      put: '`',
    },
    {
      name: 'the dead letter of a second consumer is taken for that of the first',
      find: '`dead:${message.info.consumer}:${idOf(message)}`',
      put: '`dead:${idOf(message)}`',
    },
    {
      name: 'a dead letter with too much to say of itself is never laid down',
      find: 'text.slice(0, LONGEST_WORD)',
      put: 'text',
    },
  ]),
  {
    name: 'a message comes back for its next attempt when its window is over',
    file: 'src/guards/queue/verdict.ts',
    find: 'Math.min(askedFor(error) ?? delays.handlerMs(attempt), delays.longestMs)',
    put: 'askedFor(error) ?? delays.handlerMs(attempt)',
    tests: ['test/queue/trouble.test.ts'],
  },
  {
    name: 'a consumer that was set up wrongly makes a dead letter of every message',
    file: 'src/guards/queue/settings.ts',
    find: '  mustBeDeclared(options)\n',
    put: '',
    tests: ['test/queue/guard.test.ts'],
  },
  {
    name: 'a dead letter that can go nowhere comes again for ever',
    file: 'src/adapters/amqp.ts',
    find: '  mustLayDown(deadLetter, ',
    put: "  mustLayDown(deadLetter ?? 'dlx', ",
    tests: ['test/queue/trouble.test.ts'],
  },
  {
    name: 'a broker is told of progress all the time, because a timer is too long',
    file: 'src/guards/queue/consume.ts',
    find: 'Math.min(settings.leaseMs / TURNS, LONGEST_TIMER_MS)',
    put: 'settings.leaseMs / TURNS',
    tests: ['test/queue/trouble.test.ts'],
  },
  {
    name: 'a job that Redis does not take back is failed for good',
    file: 'src/adapters/bullmq.ts',
    find: 'token).catch(() => undefined)',
    put: 'token)',
    tests: ['test/queue/trouble.test.ts'],
  },
  {
    name: 'a held message of RabbitMQ runs once more than it may',
    file: 'src/adapters/amqp.ts',
    find: 'before + 1 : undefined',
    put: 'before : undefined',
    tests: ['test/queue/trouble.test.ts'],
  },
  {
    name: 'a log of a consumption that was ended breaks its connection',
    file: 'src/adapters/amqp.ts',
    find: 'quietly(() => options.onCancel?.())',
    put: 'options.onCancel?.()',
    tests: ['test/queue/trouble.test.ts'],
  },
  {
    name: 'a held message that nobody counts runs more than the one time that it may',
    file: 'src/guards/queue/work.ts',
    find: '(settings.deliveries(message) ?? 1)',
    put: '(settings.deliveries(message) ?? 0)',
    tests: ['test/queue/trouble.test.ts'],
  },
]
