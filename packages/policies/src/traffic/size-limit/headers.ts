import type { HeaderList } from '@sluice/core'

/** Bytes of the separators in a header line: `: ` and CR LF. */
const LINE_BYTES = 4

/** Limits for a list of header lines. */
export interface HeaderBounds {
  readonly maxLines: number
  readonly maxBytes: number
  readonly maxValueBytes: number
}

/** Returns true if the header lines are within the limits. Each character is one byte. */
export function areWithin(list: HeaderList, { maxLines, maxBytes, maxValueBytes }: HeaderBounds): boolean {
  if (list.length > maxLines * 2) return false
  let bytes = 0
  for (let i = 0; i < list.length; i += 2) {
    const valueBytes = list[i + 1]!.length
    if (valueBytes > maxValueBytes) return false
    bytes += list[i]!.length + valueBytes + LINE_BYTES
  }
  return bytes <= maxBytes
}
