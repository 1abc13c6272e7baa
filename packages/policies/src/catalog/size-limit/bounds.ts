import { parseSize } from '@sluice/core'
import type { HeaderBounds } from './headers.js'
import type { MessageSizes } from './schema.js'

/** The bounds of a message; what is not configured is unbounded. */
export interface Bounds {
  readonly headers: HeaderBounds
  readonly minBody: number
  readonly maxBody: number
}

/** @throws Error when no body could satisfy them. */
export function boundsOf(sizes: MessageSizes): Bounds {
  const minBody = sizes.minBodyBytes === undefined ? 0 : parseSize(sizes.minBodyBytes)
  const maxBody = atMost(sizes.maxBodyBytes)
  if (minBody > maxBody) {
    throw new Error(
      `'minBodyBytes' ${sizes.minBodyBytes} is above 'maxBodyBytes' ${sizes.maxBodyBytes}; exchange them`,
    )
  }
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
