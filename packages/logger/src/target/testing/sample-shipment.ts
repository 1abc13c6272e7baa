import type { Shipment } from '../target.js'

/** A shipment of records given as JSON, named `k-0`, `k-1` and so on. */
export function sampleShipment(records: readonly string[]): Shipment {
  return {
    count: records.length,
    bytes: records.reduce((sum, record) => sum + record.length, 0),
    idOf: (i) => `k-${i}`,
    jsonOf: (i) => Buffer.from(records[i]!, 'latin1'),
    copyJson: (i, into, at) => into.write(records[i]!, at, 'latin1'),
  }
}
