import { Memo } from '../lib/memo.js'

/**
 * Words that mark a name as secret if they are the whole name or its last word, as in `x-functions-key` or
 * `user[pwd]`.
 */
const LAST_WORDS: ReadonlySet<string> = new Set([
  'key',
  'sig',
  'sid',
  'pwd',
  'pw',
  'pass',
  'auth',
  'otp',
  'bearer',
])
/** Names ending in `key` that are not secret and useful in logs. */
const PLAIN: ReadonlySet<string> = new Set(['idempotency-key', 'sec-websocket-key', 'surrogate-key'])
const WORD_ENDS = '-_.[]'
/**
 * Parts that mark a name as secret wherever they occur, as in `x-vault-token`, `proxy-authorization` or
 * `set-cookie`.
 */
const PARTS: readonly string[] = [
  'authorization',
  'cookie',
  'api-key',
  'api_key',
  'apikey',
  'access-key',
  'access_key',
  'auth-key',
  'auth_key',
  'token',
  'secret',
  'passw',
  'passphrase',
  'passcode',
  'credential',
  'assertion',
  'signature',
  'session',
  'sessid',
  'samlresponse',
  'subscriptionkey',
  'jwt',
]
const CACHED_NAMES = 1024

/** Recognizes secret values by the name of their field or parameter. */
export class SensitiveNames {
  readonly #more: ReadonlySet<string>
  readonly #answers = new Memo(CACHED_NAMES, (name) => this.#check(name.toLowerCase()))

  /**
   * @param more Names in addition to the built-in ones, such as the field in which a route expects its API
   * key.
   */
  constructor(more: readonly string[]) {
    this.#more = new Set(more.map((name) => name.toLowerCase()))
  }

  /** Returns true if the value under this name is secret. Case-insensitive. */
  has(name: string): boolean {
    return this.#answers.get(name)
  }

  #check(name: string): boolean {
    if (this.#more.has(name) || PARTS.some((part) => name.includes(part))) return true
    return !PLAIN.has(name) && LAST_WORDS.has(lastWord(name))
  }
}

function lastWord(name: string): string {
  let end = name.length
  while (end > 0 && WORD_ENDS.includes(name[end - 1]!)) end--
  let start = end
  while (start > 0 && !WORD_ENDS.includes(name[start - 1]!)) start--
  return name.slice(start, end)
}
