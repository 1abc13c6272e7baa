import { beginTurn, endTurn } from '../../telemetry/turn-clock.js'
import type { Connection } from './connection.js'

/**
 * Requests for kept connections leave at the end of the turn of the event loop in which they came. By then everything
 * that had arrived on those connections has been read: bytes that nobody asked for, or their end. A request written
 * before that would be given those bytes as its answer, or be lost with the connection.
 *
 *     turn:  reads (requests of clients, answers and ends of targets) ─► departures ─► next turn
 */
let due: Connection[] = []

/** Lets what is due on the connection begin at the end of this turn. */
export function depart(connection: Connection): void {
  if (connection.isDue) return
  connection.isDue = true
  if (due.push(connection) === 1) setImmediate(leave)
}

function leave(): void {
  const leaving = due
  due = []
  beginTurn()
  try {
    for (const connection of leaving) {
      connection.isDue = false
      // Its attempt may have been given up since.
      if (connection.attempt !== null && !connection.isClosed) connection.begin()
    }
  } finally {
    endTurn()
  }
}
