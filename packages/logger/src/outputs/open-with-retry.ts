import type { Delivery, LogOutput, Shipment } from './output.js'

/** Returns an output that can be used before it is open. If opening fails, each delivery retries it. */
export function openWithRetry(open: () => Promise<LogOutput>): LogOutput {
  let output: Promise<LogOutput> | null = open()
  output.catch(() => {})
  return {
    async deliver(shipment: Shipment): Promise<Delivery> {
      output ??= open()
      let opened: LogOutput
      try {
        opened = await output
      } catch (error) {
        output = null
        return {
          kind: 'failed',
          overload: false,
          reason: `cannot open the target: ${(error as Error).message}`,
        }
      }
      return opened.deliver(shipment)
    },
    async close(): Promise<void> {
      const opened = await output?.catch(() => null)
      await opened?.close()
    },
  }
}
