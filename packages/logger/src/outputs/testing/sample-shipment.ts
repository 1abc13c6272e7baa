import type { Shipment } from '../output.js'

/** Creates a shipment of records given as JSON, with IDs such as `k-0` and `k-1`. */
export function sampleShipment(
  records: readonly string[],
  { prefix = 'k', mayBeDelivered = false }: { prefix?: string; mayBeDelivered?: boolean } = {},
): Shipment {
  return {
    mayBeDelivered,
    count: records.length,
    bytes: records.reduce((sum, record) => sum + record.length, 0),
    idOf: (i) => `${prefix}-${i}`,
    jsonOf: (i) => Buffer.from(records[i]!, 'latin1'),
    lengthOf: (i) => records[i]!.length,
    copyJson: (i, into, at) => into.write(records[i]!, at, 'latin1'),
  }
}
