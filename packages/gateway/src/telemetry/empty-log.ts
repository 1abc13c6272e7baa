import type { LogIdentity } from '@sluice/core'

/** No records at all. */
export const EMPTY_LOG: LogIdentity = {
  received: 0,
  indexed: 0,
  dead: 0,
  dropped: 0,
  droppedBy: {},
  onDisk: 0,
  inMemory: 0,
}
