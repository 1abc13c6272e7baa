import type { Delivery, LogOutput, Shipment } from './output.js'

/** An output that is opened while records already come in; one that cannot be opened is tried again each time. */
export function lateOutput(open: () => Promise<LogOutput>): LogOutput {
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
          reason: `the target cannot be opened: ${(error as Error).message}`,
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
