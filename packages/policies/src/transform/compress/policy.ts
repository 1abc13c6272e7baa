import { definePolicy, type Exchange, headerJoined, headerValue, Memo, parseSize } from '@sluice/core'
import { type Coding, type CodingChoice, chooseCoding, MAX_ACCEPT_BYTES, PLAIN } from './accept-encoding.js'
import { codecOf } from './codecs.js'
import { compileTypes, DEFAULT_TYPES } from './media-types.js'
import { type CompressionRules, ResponseCompression } from './response-compression.js'
import { compressSchema } from './schema.js'

/** Number of different Accept-Encoding values that are cached. */
const MEMO_SIZE = 256

/** Compresses responses while they stream. */
export const compress = definePolicy({
  name: 'compress',
  summary: 'Compresses responses with gzip or brotli while they stream, if Accept-Encoding allows it.',
  schema: compressSchema,
  cost: 'cpu',
  compile(config, env) {
    const {
      codings = ['br', 'gzip'],
      level = 'balanced',
      minBytes: leastBytes = '1kb',
      types = DEFAULT_TYPES,
    } = config
    const counters = new Map(
      [...codings, 'busy' as const].map((result) => [
        result,
        env.counter('gw_compress_responses_total', { result }),
      ]),
    )
    const rules: CompressionRules = {
      isCompressible: compileTypes(types),
      minBytes: parseSize(leastBytes),
      memory: env.shared('compress-memory', () => ({ heldBytes: 0 })),
      count: (result) => {
        counters.get(result)!.value++
      },
    }
    const codecs = new Map<Coding, ReturnType<typeof codecOf>>(
      codings.map((coding) => [coding, codecOf(coding, level)]),
    )
    const choices = new Memo<CodingChoice>(MEMO_SIZE, (field) => chooseCoding(field, codings))
    const chosen = env.slot<CodingChoice>()
    const isAllowed = config.crossSite === true ? () => true : isOwnPage
    return {
      name: 'compress',
      // Reads the field now, because the gateway removes it if later policies read the body.
      onRequest(x) {
        const field = headerJoined(x.headers, 'accept-encoding')
        if (field !== null && field.length <= MAX_ACCEPT_BYTES && isAllowed(x))
          chosen.set(x, choices.get(field))
        return null
      },
      onResponse(x) {
        const choice = (x.httpVersion === '1.0' ? undefined : chosen.get(x)) ?? PLAIN
        const codec = choice.coding === null ? null : codecs.get(choice.coding)!
        x.filterResponse(new ResponseCompression(rules, choice, codec))
        return null
      },
    }
  },
})

/**
 * Returns false for requests of other sites with cookies. Their pages could learn secrets from the compressed
 * size (BREACH).
 */
function isOwnPage(x: Exchange): boolean {
  return (
    headerValue(x.headers, 'sec-fetch-site') !== 'cross-site' || headerValue(x.headers, 'cookie') === null
  )
}
