import { parseSize } from '@sluice/core'
import type { HeaderBounds } from './headers.js'
import type { MessageSizes } from './schema.js'

/** Size limits of a message. Infinity if not configured. */
export interface Bounds {
  readonly headers: HeaderBounds
  readonly minBody: number
  readonly maxBody: number
}

/** @throws Error if no body can satisfy the limits. */
export function boundsOf(sizes: MessageSizes): Bounds {
  const minBody = sizes.minBodyBytes === undefined ? 0 : parseSize(sizes.minBodyBytes)
  const maxBody = atMost(sizes.maxBodyBytes)
  if (minBody > maxBody)
    throw new Error(
      `'minBodyBytes' ${sizes.minBodyBytes} is above 'maxBodyBytes' ${sizes.maxBodyBytes}: swap them`,
    )
  return {
    headers: {
      maxLines: sizes.maxHeaders ?? Number.POSITIVE_INFINITY,
      maxBytes: atMost(sizes.maxHeaderBytes),
      maxValueBytes: atMost(sizes.maxHeaderValueBytes),
    },
    minBody,
    maxBody,
  }
}

function atMost(size: string | undefined): number {
  return size === undefined ? Number.POSITIVE_INFINITY : parseSize(size)
}
