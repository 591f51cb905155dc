/** Defects in when a tick is due, and in what is run for one that is over, lost or forgotten. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/guards/run', 'test/run')

export const tick = [
  ...at('tick.ts', 'tick-tenant', [
    {
      name: 'run: a tick that names no tenant is the code for those of all tenants',
      find: 'desk.agents.set(agent, tenant ?? desk.ibid.tenant, {',
      put: 'desk.agents.set(agent, tenant, {',
    },
  ]),
  ...at('start.ts', 'tick-twice', [
    {
      name: 'run: a worker that was suspended runs ticks again that were forgotten meanwhile',
      find: 'if (notAfterMs !== undefined && createdAt > notAfterMs) throw',
      put: 'if (notAfterMs === 0) throw',
    },
  ]),
  ...at('tick.ts', 'tick-lost', [
    {
      name: 'run: a tick that its worker gave back and did not come back for is lost',
      find: "    if (error.code === 'RETRY_IN_FLIGHT') return terms.leaseMs\n",
      put: '',
    },
    {
      name: 'run: a short memory skips the ticks of its first hour',
      find: 'keepMs - Math.min(HOUR_MS, keepMs / 2)',
      put: 'keepMs - HOUR_MS',
    },
    {
      name: 'run: a worker whose clock is ahead does not see what it has missed',
      find: 'doneMs = Math.min(doneMs, earliest())',
      put: 'doneMs = Math.min(doneMs, clock.now())',
    },
  ]),
  ...at('tick.ts', 'tick', [
    {
      name: 'a worker that closes cuts its ticks off',
      find: 'if (!stopped && !desk.isClosing()) void desk.counted(begin(atMs))',
      put: 'if (!stopped && !desk.isClosing()) void begin(atMs)',
    },
    {
      name: 'a tick runs before its time on a worker whose clock is ahead',
      find: '{ terms, body, notBeforeMs: atMs, onStoreTime',
      put: '{ terms, body, onStoreTime',
    },
    {
      name: 'ticks that nobody was awake for are all caught up, whatever was declared',
      find: "if (catchUp === 'all') return due",
      put: "if (catchUp !== 'none') return due",
    },
  ]),
]
