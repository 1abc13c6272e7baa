import * as field from '../../shared/options/options.js'
import { DEFAULT_TYPES } from './media-types.js'

/** Schema of the configuration of `compress`. */
export const compressSchema = field.policyOptions(
  {
    codings: field.optionalList(
      field.oneOf(['br', 'gzip'], 'A content coding.'),
      'Content codings in order of preference. The order decides if the client accepts several equally.',
      { minItems: 1, maxItems: 2, uniqueItems: true, default: ['br', 'gzip'] },
    ),
    level: field.optionalOneOf(
      ['fast', 'balanced', 'small'],
      'Trade-off between speed and size: gzip level 1, 5 or 9, brotli level 1, 4 or 7.',
      'balanced',
    ),
    minBytes: field.optionalSize(
      'Minimum size of a body to compress. A body of unknown length is always compressed.',
      '1kb',
    ),
    types: field.optionalList(
      field.string('A media type.', {
        minLength: 1,
        maxLength: 100,
        pattern: '^(\\*/\\*|[A-Za-z0-9!#$&^_.+-]+/(\\*|(\\*\\+)?[A-Za-z0-9!#$&^_.+-]+))$',
      }),
      'Media types to compress: a type, `text/*`, or `application/*+json` for a suffix. `text/event-stream` must be listed by name.',
      { minItems: 1, maxItems: 100, default: [...DEFAULT_TYPES] },
    ),
    crossSite: field.optionalFlag(
      false,
      'Also compresses responses to cross-site requests with cookies (`Sec-Fetch-Site: cross-site`). Enable it only if no response contains both a secret and text chosen by callers (BREACH).',
    ),
  },
  [
    'Bodies are compressed while they stream, in the coding that `Accept-Encoding` prefers. Some responses are not compressed: those with a content coding, partial bodies (206), `Cache-Control: no-transform`, and those with a digest (`Content-Digest`, `Repr-Digest`, `Digest`, `Content-MD5`).',
    'Compressed responses have `Content-Encoding` and a weak ETag (`W/`), but no `Accept-Ranges`. All responses that could be compressed have `Vary: Accept-Encoding`.',
    'Bodies up to 16 KB are compressed synchronously, larger ones on the thread pool. All compressions of a worker share 64 MB. If none is left, the response is sent uncompressed and `gw_compress_responses_total` counts it as `busy`. Bodies of `text/event-stream`, `application/x-ndjson` and `application/json-seq` are flushed after every chunk.',
    'Put it before `response-cache`, so that cache hits are compressed too.',
  ],
  { deprecatedKeys: { minSize: 'minBytes' } },
)
