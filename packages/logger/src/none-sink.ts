import type { Exchange, LogIdentity, LogSink } from '@sluice/core'

const NOTHING: LogIdentity = {
  received: 0,
  indexed: 0,
  dead: 0,
  dropped: 0,
  droppedBy: {},
  onDisk: 0,
  inMemory: 0,
}

/** The sink of a gateway without a traffic log: takes nothing, counts nothing. */
export const noneSink: LogSink = {
  record(_x: Exchange): void {},
  identity: () => NOTHING,
  close: () => Promise.resolve(),
}
