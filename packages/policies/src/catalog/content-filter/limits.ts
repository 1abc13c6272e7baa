import { parseSize } from '@sluice/core'
import type { ContentFilterConfig } from './schema.js'

export const DEFAULT_PASSES = 3
/** Longer texts take too long even in linear time. */
const MOST_SCAN_BYTES = 4 * 1024 * 1024

/** Most that is looked at. @throws Error when that is too much. */
export function maxScanBytesOf({ maxScanBytes = '256kb' }: ContentFilterConfig): number {
  const bytes = parseSize(maxScanBytes)
  if (bytes > MOST_SCAN_BYTES)
    throw new Error(`'maxScanBytes' ${maxScanBytes} is too much; write 4mb or less`)
  return bytes
}
