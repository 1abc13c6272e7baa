import { type Exchange, SensitiveNames } from '@sluice/core'
import { CacheControl } from '../../shared/message/cache-control.js'
import { variesResponse } from './varying-fields.js'

/** Credential fields such as Authorization and `x-api-key`. */
const CREDENTIALS = new SensitiveNames([])

/** Request fields that matter to a cache, read in one pass. Null if a field is absent. */
export class RequestFacts {
  /** Names and values of credential fields other than cookies, or an empty string. */
  credentials = ''
  /** Cookies of the request, or null. */
  cookies: string | null = null
  /** Range field, or null. */
  range: string | null = null
  ifRange: string | null = null
  ifNoneMatch: string | null = null
  ifModifiedSince: string | null = null
  /** True if the request has a condition that only the upstream can evaluate. */
  hasPrecondition = false
  /** Names and values of the fields that are always part of the key, or an empty string. */
  varyingFields = ''
  /** Cache-Control of the request. Requests without one share an instance. */
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
          else if (variesResponse(name)) this.varyingFields += `${name}:${value}\n`
      }
    }
    if (control !== null) this.control = new CacheControl(control)
    else if (pragma !== '' && /no-cache/i.test(pragma)) this.control = NO_CACHE
  }

  get isAuthorized(): boolean {
    return this.credentials !== ''
  }

  /** True if the response may be something other than a complete 200. */
  get isConditional(): boolean {
    return this.range !== null || this.ifNoneMatch !== null || this.ifModifiedSince !== null
  }
}

const NO_CONTROL = new CacheControl(null)
/** Meaning of `Pragma: no-cache` without Cache-Control (RFC 9111, 5.4). */
const NO_CACHE = new CacheControl('no-cache')

function joined(before: string | null, value: string): string {
  return before === null ? value : `${before}, ${value}`
}
