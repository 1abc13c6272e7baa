import { type Exchange, SensitiveNames } from '@sluice/core'
import { CacheControl } from '../../shared/cache-control.js'
import { givesOwnResponse } from './own-response-fields.js'

/** Fields that carry credentials: Authorization, `x-api-key` and their likes. */
const CREDENTIALS = new SensitiveNames([])

/** What of a request's fields matters to a cache, read in one go. Null: the field is absent. */
export class RequestFacts {
  /** Names and values of fields that carry credentials, cookies aside; empty: there are none. */
  credentials = ''
  /** All cookies, or null. */
  cookies: string | null = null
  /** It asks for a part. */
  range: string | null = null
  ifRange: string | null = null
  ifNoneMatch: string | null = null
  ifModifiedSince: string | null = null
  /** It has a condition that only the upstream can judge. */
  hasPrecondition = false
  /** Names and values of the fields that are always part of the key, or an empty string. */
  ownFields = ''
  /** A request without Cache-Control shares one. */
  control: CacheControl = NO_CONTROL

  constructor(x: Exchange) {
    const { headers } = x
    let control: string | null = null
    let pragma = ''
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!
      const value = headers[i + 1]!
      switch (name) {
        case 'cookie':
          this.cookies = this.cookies === null ? value : `${this.cookies}; ${value}`
          break
        case 'cache-control':
          control = joined(control, value)
          break
        case 'pragma':
          pragma = value
          break
        case 'range':
          this.range = joined(this.range, value)
          break
        case 'if-range':
          this.ifRange = joined(this.ifRange, value)
          break
        case 'if-none-match':
          this.ifNoneMatch = joined(this.ifNoneMatch, value)
          break
        case 'if-modified-since':
          this.ifModifiedSince = joined(this.ifModifiedSince, value)
          break
        case 'if-match':
        case 'if-unmodified-since':
          this.hasPrecondition = true
          break
        default:
          if (CREDENTIALS.has(name)) this.credentials += `${name}:${value}\n`
          else if (givesOwnResponse(name)) this.ownFields += `${name}:${value}\n`
      }
    }
    if (control !== null) this.control = new CacheControl(control)
    else if (pragma !== '' && /no-cache/i.test(pragma)) this.control = NO_CACHE
  }

  get isAuthorized(): boolean {
    return this.credentials !== ''
  }

  /** It can be answered with something else than a whole 200. */
  get isConditional(): boolean {
    return this.range !== null || this.ifNoneMatch !== null || this.ifModifiedSince !== null
  }
}

const NO_CONTROL = new CacheControl(null)
/** What `Pragma: no-cache` means without Cache-Control (RFC 9111, 5.4). */
const NO_CACHE = new CacheControl('no-cache')

function joined(before: string | null, value: string): string {
  return before === null ? value : `${before}, ${value}`
}
