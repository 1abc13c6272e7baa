import { parseSize } from '@sluice/core'
import type { ContentFilterConfig } from './schema.js'

/** Default of `decodePasses`. */
export const DEFAULT_PASSES = 3
/** Maximum scan size in bytes. Larger texts take too long even in linear time. */
const MAX_SCAN_BYTES = 4 * 1024 * 1024

/** Returns the scan limit in bytes. @throws Error if it is too large. */
export function maxScanBytesOf({ maxScanBytes = '256kb' }: ContentFilterConfig): number {
  const bytes = parseSize(maxScanBytes)
  if (bytes > MAX_SCAN_BYTES) throw new Error(`'maxScanBytes' ${maxScanBytes} is too large; use at most 4mb`)
  return bytes
}
