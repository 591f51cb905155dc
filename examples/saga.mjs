/** A trip is booked and given up: what was done is undone, last first, and a second rollback does nothing. */
import { createIbid, Rejected } from 'ibid'
import { createSaga } from 'ibid/saga'
import { sqliteStore } from 'ibid/sqlite'

const ibid = createIbid({ store: sqliteStore('ibid.db'), tenant: 'acme' })
const done = []

function booking(name, input) {
  return {
    name,
    input,
    do({ input: wanted, key }) {
      done.push(`book ${name} ${wanted.for}`)
      return { booking: `${name}-1`, key }
    },
    undo: ({ booking: id }) => done.push(`cancel ${id}`),
  }
}

const soldOut = {
  ...booking('car', { for: 'Ada' }),
  do() {
    throw new Rejected('no cars left', { code: 'SOLD_OUT' })
  },
}

const saga = createSaga({ ibid, workflowId: 'trip_7' })
try {
  await saga.step(booking('flight', { for: 'Ada' }))
  await saga.step(booking('hotel', { for: 'Ada' }))
  await saga.step(soldOut)
} catch (error) {
  console.log(`${error.code}: rolling back`)
}
await saga.compensate()
const again = await saga.compensate()
console.log(done.join(', '))
console.log(`complete: ${again.complete}, undone before: ${again.undone.every(({ replayed }) => replayed)}`)
await ibid.close()
if (done.join() !== 'book flight Ada,book hotel Ada,cancel hotel-1,cancel flight-1') process.exitCode = 1
