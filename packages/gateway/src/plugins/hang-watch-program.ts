import { writeSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { createOperationLog } from '../telemetry/operation-log.js'
import type { WatchSettings } from './run-marks.js'

/**
 * Check interval in milliseconds, and the number of checks without progress that count as a hang: at least
 * one second.
 */
const POLL_MS = 250
const HANGS_AFTER = 5

const { cells, worker } = workerData as WatchSettings
const names: string[] = []
// Write directly: a thread's stderr passes through the event loop that hangs.
const log = createOperationLog({
  write: (line) => void writeSync(2, line),
  format: process.env['GW_LOG_FORMAT'] === 'console' ? 'console' : 'json',
  fields: { worker, pid: process.pid },
})
let seen = 0
let stuckChecks = 0

parentPort!.on('message', (name: string) => names.push(name))
setInterval(() => {
  const running = Atomics.load(cells, 0)
  const begun = Atomics.load(cells, 1)
  stuckChecks = running !== 0 && begun === seen ? stuckChecks + 1 : 0
  seen = begun
  if (stuckChecks !== HANGS_AFTER) return
  const remedy = 'the event loop is blocked, and the worker is replaced after 4 s: fix the plugin'
  log.error('plugin.hangs', { running: names[running - 1] ?? 'unknown', remedy })
}, POLL_MS)
