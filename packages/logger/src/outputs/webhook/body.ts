import type { Shipment } from '../output.js'

const NEWLINE = Buffer.from('\n')
const OPEN = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from(']')

/** The records of a shipment as the body of one request. */
export function webhookBody(shipment: Shipment, format: 'ndjson' | 'array'): Buffer {
  const parts: Buffer[] = format === 'array' ? [OPEN] : []
  for (let i = 0; i < shipment.count; i++) {
    if (format === 'array' && i > 0) parts.push(COMMA)
    parts.push(shipment.jsonOf(i))
    if (format === 'ndjson') parts.push(NEWLINE)
  }
  if (format === 'array') parts.push(CLOSE)
  return Buffer.concat(parts)
}
