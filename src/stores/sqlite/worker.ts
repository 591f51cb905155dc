/**
 * The thread that has the file open: a commit waits for the disk here, and not in the caller's event loop. All
 * messages that have arrived are taken at once, and all answers of a transaction go back in one message.
 */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import { Desk, type DeskSettings } from './desk.js'
import type { Answer, Asked } from './worker-thread.js'
import { unpack } from './wire.js'

const port = parentPort as MessagePort
let answers: Answer[] = []

const desk = new Desk(workerData as DeskSettings, () => {
  if (answers.length === 0) return
  port.postMessage(answers)
  answers = []
})

function take([id, verb, sent]: Asked): void {
  desk.take({
    verb,
    input: unpack(verb, sent),
    done: (output) => void answers.push([id, output]),
    failed: (failure) => void answers.push([id, undefined, failure]),
  })
}

port.on('message', (asked: Asked | null) => {
  for (
    let next: { message: unknown } | undefined = { message: asked };
    next;
    next = receiveMessageOnPort(port)
  ) {
    const { message } = next as { message: Asked | null }
    if (message === null) return close()
    take(message)
  }
  desk.work()
})

function close(): void {
  desk.close()
  port.close()
}
