import type { Delivery, LogTarget, Shipment } from './target.js'

/** A target that is opened while records already come in; one that cannot be opened is tried again each time. */
export function lateTarget(open: () => Promise<LogTarget>): LogTarget {
  let target: Promise<LogTarget> | null = open()
  target.catch(() => {})
  return {
    async deliver(shipment: Shipment): Promise<Delivery> {
      target ??= open()
      let opened: LogTarget
      try {
        opened = await target
      } catch (error) {
        target = null
        return {
          kind: 'failed',
          overload: false,
          reason: `the target cannot be opened: ${(error as Error).message}`,
        }
      }
      return opened.deliver(shipment)
    },
    async close(): Promise<void> {
      const opened = await target?.catch(() => null)
      await opened?.close()
    },
  }
}
