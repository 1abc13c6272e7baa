import { EMPTY_LOG, type Exchange, type LogSink } from '@sluice/core'

/** The sink of a gateway without a traffic log: takes nothing, counts nothing. */
export const noneSink: LogSink = {
  opened: Promise.resolve(),
  record(_x: Exchange): void {},
  identity: () => EMPTY_LOG,
  close: () => Promise.resolve(),
}
