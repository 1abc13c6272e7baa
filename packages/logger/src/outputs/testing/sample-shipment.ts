import type { Shipment } from '../output.js'

/** Creates a shipment of records given as JSON, with IDs such as `k-0` and `k-1`. */
export function sampleShipment(
  records: readonly string[],
  { prefix = 'k', mayBeDelivered = false }: { prefix?: string; mayBeDelivered?: boolean } = {},
): Shipment {
  return {
    mayBeDelivered,
    count: records.length,
    idOf: (i) => `${prefix}-${i}`,
    jsonOf: (i) => Buffer.from(records[i]!, 'latin1'),
    get bulkBody() {
      const lines = records.map((record, i) => `{"create":{"_id":"${prefix}-${i}"}}\n${record}\n`)
      return Buffer.from(lines.join(''), 'latin1')
    },
  }
}
