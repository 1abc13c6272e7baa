import { Worker } from 'node:worker_threads'
import { visibleText } from '@sluice/core/visible-text'
import { complainText, isSilent } from './output.js'

/** Values of the shared state: the thread may write, is writing, or must stop writing. */
export const STATE = { free: 0, writing: 1, ended: 2 } as const
/** Indices of the shared numbers. */
export const AT = { state: 0, lines: 1 } as const

/** Data of the thread that writes the line. */
export interface ActivityData {
  readonly shared: Int32Array
  readonly text: string
  readonly delayMs: number
}

const DELAY_MS = 2000
const BACK_AND_CLEAR = '\r\u001b[K'

/** A line on the terminal with the elapsed time of work. */
export interface Activity {
  /** Number of times that the line was written. */
  lines(): number
  end(): void
}

/**
 * Shows a line on the terminal, with the elapsed time, while work takes longer than two seconds. The work may block
 * this process, because a thread writes the line. Without a terminal and with `--quiet`, nothing is written.
 */
export function showActivity(text: string, delayMs = DELAY_MS): Activity {
  if (isSilent() || process.stderr.isTTY !== true) return { lines: () => 0, end: () => {} }
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const line = visibleText(text).slice(0, (process.stderr.columns || 80) - 12)
  const workerData: ActivityData = { shared, text: `${BACK_AND_CLEAR}${line}`, delayMs }
  const thread = new Worker(new URL('./activity-thread.js', import.meta.url), { workerData })
  thread.unref()
  // The line is only information: without it, the work goes on.
  thread.on('error', () => {})
  return {
    lines: () => Atomics.load(shared, AT.lines),
    end: () => {
      // The thread holds the state only while it writes. A line that is written later would stay on the terminal.
      while (Atomics.compareExchange(shared, AT.state, STATE.free, STATE.ended) === STATE.writing)
        Atomics.wait(shared, AT.state, STATE.writing, 100)
      void thread.terminate()
      if (Atomics.load(shared, AT.lines) > 0) complainText(BACK_AND_CLEAR)
    },
  }
}
