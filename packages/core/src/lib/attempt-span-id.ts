const HEX2 = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Returns the ID of the span of an upstream attempt: that of the exchange, with the number of the attempt in the last two
 * digits. Records therefore need no span IDs of attempts. @param attempt from 1.
 */
export function attemptSpanId(spanId: string, attempt: number): string {
  return spanId.slice(0, 14) + HEX2[attempt & 0xff]!
}
