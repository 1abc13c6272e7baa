import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { type ActivityData, AT, STATE } from './activity.js'
import { ageText } from './text.js'

// Thread that shows a line with the elapsed time while the main thread is busy.
const INTERVAL_MS = 500
const { shared, text, delayMs } = workerData as ActivityData
const startMono = performance.now()

function write(): void {
  if (Atomics.compareExchange(shared, AT.state, STATE.free, STATE.writing) !== STATE.free) return
  try {
    // The stream of a thread would pass the text to the main thread.
    writeSync(2, `${text}, ${ageText(performance.now() - startMono)}`)
    Atomics.add(shared, AT.lines, 1)
  } finally {
    Atomics.store(shared, AT.state, STATE.free)
    Atomics.notify(shared, AT.state)
  }
}

setTimeout(() => {
  write()
  setInterval(write, INTERVAL_MS)
}, delayMs)
