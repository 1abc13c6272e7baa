import { definePolicy, type Exchange, parseSize } from '@sluice/core'
import { bodyLimitSchema } from './schema.js'

/** Limits the size of request bodies, below or above the limit of the listener. */
export const bodyLimit = definePolicy({
  name: 'body-limit',
  summary: 'Limits the size of request bodies on a route, below or above the limit of the listener.',
  schema: bodyLimitSchema,
  compile(config, env) {
    const maxBytes = parseSize(config.maxBytes)
    const minBytes = config.minBytes === undefined ? 0 : parseSize(config.minBytes)
    const canRaise = config.raise === true
    if (minBytes > maxBytes)
      throw new Error(
        `'minBytes' ${config.minBytes} is greater than 'maxBytes' ${config.maxBytes}; swap them`,
      )
    const tooLarge = env.refusal(
      'GW_BODY_TOO_LARGE',
      `the request body is larger than the limit; send at most ${config.maxBytes}`,
    )
    const tooSmall = env.refusal(
      'GW_BODY_TOO_SMALL',
      `the request body is too small; send at least ${config.minBytes ?? '0b'}`,
    )
    return {
      name: 'body-limit',
      onRequest(x: Exchange) {
        if (canRaise || maxBytes < x.bodyLimit) x.bodyLimit = maxBytes
        if (x.contentLength > maxBytes) return tooLarge
        return x.contentLength >= 0 && x.contentLength < minBytes ? tooSmall : null
      },
    }
  },
})
