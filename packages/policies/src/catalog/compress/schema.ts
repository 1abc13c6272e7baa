import {
  oneOf,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalSize,
  policyOptions,
  string,
} from '../../shared/options.js'
import { DEFAULT_TYPES } from './media-types.js'

/** The configuration of `compress`. */
export const compressSchema = policyOptions(
  {
    codings: optionalList(
      oneOf(['br', 'gzip'], 'A content coding.'),
      'Content codings, the best first: it is taken where the client likes several alike.',
      { minItems: 1, maxItems: 2, uniqueItems: true, default: ['br', 'gzip'] },
    ),
    level: optionalOneOf(
      ['fast', 'balanced', 'small'],
      'Time for size: gzip 1, 5 or 9; brotli 1, 4 or 7.',
      'balanced',
    ),
    minSize: optionalSize('Shorter bodies stay as they are. A body of unknown length counts as long.', '1kb'),
    types: optionalList(
      string('A media type.', {
        minLength: 1,
        maxLength: 100,
        pattern: '^(\\*/\\*|[A-Za-z0-9!#$&^_.+-]+/(\\*|(\\*\\+)?[A-Za-z0-9!#$&^_.+-]+))$',
      }),
      'Which bodies: media types, `text/*`, or `application/*+json` for a suffix. `text/event-stream` only where it is named as such.',
      { minItems: 1, maxItems: 100, default: [...DEFAULT_TYPES] },
    ),
    crossSite: optionalFlag(
      false,
      'Also compresses what a page of another site asks for with the cookies of its user (`Sec-Fetch-Site: cross-site`): only where no response has a secret beside something that callers choose (BREACH).',
    ),
  },
  [
    'Bodies are compressed while they pass, in the coding that `Accept-Encoding` likes best. What has a content coding already, a part of a body (206), `Cache-Control: no-transform`, or a digest of its bytes (`Content-Digest`, `Repr-Digest`, `Digest`, `Content-MD5`) stays as it is.',
    'Compressed responses have `Content-Encoding`, a weak ETag (`W/`), and no `Accept-Ranges`. All responses that could be compressed have `Vary: Accept-Encoding`.',
    'Bodies of up to 16 KB are compressed at once, longer ones on the threads of the process. All compressions of a worker share 64 MB; a response that finds none left goes out as it is, which `gw_compress_responses_total` counts as `busy`. Bodies of `text/event-stream`, `application/x-ndjson` and `application/json-seq` are flushed with every piece.',
    'Put it before `response-cache`, so that hits are compressed too.',
  ],
)
