import { endedMs, OUT_OF_ORDER_MS } from './newest-records.js'
import { parseRecord } from './record-view.js'
import { bytesAt } from './runs.js'

/** Number of bytes read per step. Longer lines are skipped. */
const LOOK_BYTES = 64 * 1024
/** Ranges smaller than this are read sequentially. */
const ENOUGH_BYTES = 1024 ** 2
const NEWLINE = 10

/**
 * Finds a line start in a segment before which all calls ended before `sinceMs`. Uses binary search, because
 * lines are ordered by end time.
 */
export async function firstLineSince(path: string, bytes: number, sinceMs: number): Promise<number> {
  let before = 0
  let after = bytes
  while (after - before > ENOUGH_BYTES) {
    const middle = before + Math.floor((after - before) / 2)
    const line = await lineBehind(path, middle)
    if (line === null || line.endedMs >= sinceMs - OUT_OF_ORDER_MS) after = middle
    else before = line.start
  }
  return before
}

/** Returns the first complete line after a position, or null if it is too far away. */
async function lineBehind(
  path: string,
  position: number,
): Promise<{ readonly start: number; readonly endedMs: number } | null> {
  const look = await bytesAt(path, position, LOOK_BYTES)
  const start = look.indexOf(NEWLINE) + 1
  const end = look.indexOf(NEWLINE, start)
  if (start === 0 || end === -1) return null
  const view = parseRecord(look.toString('utf8', start, end))
  return view === null ? null : { start: position + start, endedMs: endedMs(view) }
}
