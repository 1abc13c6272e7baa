import { MASK, SensitiveNames } from '@sluice/core'
import { bodyText } from '../record/body-text.js'
import { maskedQuery, maskedUrls } from '../record/masked-query.js'
import { asciiJson, type Members, membersIn, textIn } from '../redaction/members.js'
import type { PrivacyOptions } from '../redaction/privacy-options.js'
import { RecordPrivacy } from '../redaction/record-privacy.js'

/** Names of body members that hold credentials. They are masked even without privacy rules. */
const CREDENTIALS = [
  ...[
    'password',
    'passwd',
    'passphrase',
    'passcode',
    'pwd',
    'pin',
    'otp',
    'secret',
    'token',
    'jwt',
    'assertion',
  ],
  ...['client_secret', 'clientsecret', 'access_token', 'accesstoken', 'refresh_token', 'refreshtoken'],
  ...['id_token', 'idtoken', 'session_token', 'sessiontoken', 'session_id', 'sessionid', 'signature'],
  ...['api_key', 'apikey', 'api-key', 'x-api-key', 'secret_key', 'secretkey', 'private_key', 'privatekey'],
  ...['access_key', 'accesskey', 'authorization', 'cookie', 'set-cookie', 'credential', 'credentials'],
  ...['client_assertion', 'samlresponse', 'new_password', 'newpassword', 'old_password', 'oldpassword'],
]

/** The beginning of a message body. */
export interface MaskedBody {
  /** Size of the whole body in bytes. */
  readonly bytes: number
  readonly beginning: Uint8Array
  readonly contentType: string
  /** Content-Encoding, or empty. */
  readonly encoding: string
}

/**
 * Masks parts of messages like the traffic log, for views of live traffic: credentials by name, and everything that the
 * privacy rules protect. A value that the rules cannot check is masked completely.
 */
export class MessageMask {
  readonly #sensitive: SensitiveNames
  readonly #privacy: RecordPrivacy

  /** @throws Error if the rules are invalid. */
  constructor(sensitiveNames: readonly string[], privacy: PrivacyOptions | null) {
    this.#sensitive = new SensitiveNames(sensitiveNames)
    const shape = { kind: 'whole', count: 0 } as const
    const find = { names: [...CREDENTIALS, ...sensitiveNames] }
    const own = { id: 'credentials', find, in: ['body'], do: 'mask', shape } as const
    this.#privacy = new RecordPrivacy({ keys: privacy?.keys ?? [], rules: [...(privacy?.rules ?? []), own] })
  }

  /** Returns the value of a header field. `name` is in lower case. */
  header(name: string, value: string): string {
    if (this.#sensitive.has(name)) return MASK
    const region = { [name]: maskedUrls(value, this.#sensitive) }
    return this.#checked({ hdr: { req_in: region } }, ({ hdr }) => membersIn(membersIn(hdr)['req_in'])[name])
  }

  /** Returns a query. */
  query(query: string): string {
    if (query === '') return query
    const masked = maskedQuery(query, this.#sensitive)
    return this.#checked({ url: { query: masked } }, ({ url }) => membersIn(url)['query'])
  }

  /** Returns the value of a variable. */
  variable(name: string, value: string): string {
    if (this.#sensitive.has(name)) return MASK
    return this.#checked({ vars: { [name]: value } }, ({ vars }) => membersIn(vars)[name])
  }

  /** Returns the beginning of a body, or null if it is not text. */
  body({ bytes, beginning, contentType, encoding }: MaskedBody): string | null {
    const isTruncated = beginning.length < bytes
    const part = { bytes, contentType, encoding, beginning, isTruncated, isStarved: false, sha256: '' }
    const found = bodyText(part, this.#sensitive, 'names')
    if (found === null) return null
    const body = { text: found.text, truncated: isTruncated }
    const record = { req: { ct: contentType }, body: { req_in: body } }
    return this.#checked(record, (checked) => membersIn(membersIn(checked['body'])['req_in'])['text'])
  }

  #checked(record: Members, part: (checked: Members) => unknown): string {
    try {
      const checked: unknown = JSON.parse(this.#privacy.redacted(asciiJson(record)))
      const value = part(membersIn(checked))
      return value === undefined ? MASK : textIn(value)
    } catch {
      // The error text may contain what the rule should hide.
      return MASK
    }
  }
}
