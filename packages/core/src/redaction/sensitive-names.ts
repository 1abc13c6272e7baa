import { Memo } from '../lib/memo.js'

/** Words that make a name one of a secret when they are all of it, or its last: `key`, `x-functions-key`, `user[pwd]`. */
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
/** Keys that open nothing, and that people look for. */
const PLAIN: ReadonlySet<string> = new Set(['idempotency-key', 'sec-websocket-key', 'surrogate-key'])
const WORD_ENDS = '-_.[]'
/** Parts that make a name one of a secret, wherever they stand: `x-vault-token`, `proxy-authorization`, `set-cookie`. */
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
const REMEMBERED_NAMES = 1024

/** Knows by a field's or parameter's name whether its value is a secret. */
export class SensitiveNames {
  readonly #more: ReadonlySet<string>
  readonly #answers = new Memo(REMEMBERED_NAMES, (name) => this.#check(name.toLowerCase()))

  /** @param more names beside the built-in ones, such as the field a route takes its API key from. */
  constructor(more: readonly string[]) {
    this.#more = new Set(more.map((name) => name.toLowerCase()))
  }

  /** Whether the value under this name is a secret; case does not matter. */
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
