import { endedMs, OUT_OF_ORDER_MS } from './newest-records.js'
import { parseRecord } from './record-view.js'
import { bytesAt } from './segment-bytes.js'

/** Read at each step; a longer line shows no time there. */
const LOOK_BYTES = 64 * 1024
/** A shorter stretch is read as it is. */
const ENOUGH_BYTES = 1024 ** 2
const NEWLINE = 10

/**
 * A position between two lines of a segment before which no call ended later than a time, found by halving: lines are in
 * the order in which calls ended.
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

/** The first whole line after a position; null when none is near. */
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
