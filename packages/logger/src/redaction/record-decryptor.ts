import { cipherKey, decryptWith } from './log-key.js'
import { asciiJson, isMembers } from './members.js'

/** An encrypted value, with the quotes that were added around an unquoted one. */
const TOKEN =
  /(\\*")~encv~([A-Za-z0-9][\w.-]{0,127})~([\w-]{38,})~\1|~encv?~([A-Za-z0-9][\w.-]{0,127})~([\w-]{38,})~/g

/** Decrypts values that privacy rules have encrypted. */
export class RecordDecryptor {
  readonly #keys: readonly Buffer[]
  readonly #unopened = new Set<string>()
  #decrypted = 0

  /**
   * @param secrets Secrets of the keys in any order. Each value is tried with all of them; authentication
   * shows which one is right.
   */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map(cipherKey)
  }

  /** Number of decrypted values. */
  get decrypted(): number {
    return this.#decrypted
  }

  /** Key IDs of values that none of the secrets could decrypt. */
  get unopenedKeys(): readonly string[] {
    return [...this.#unopened]
  }

  /** Returns the line with its values decrypted, or null if it is not a record. */
  line(line: string): string | null {
    let record: unknown
    try {
      record = JSON.parse(line)
    } catch {
      return null
    }
    if (!isMembers(record)) return null
    const before = this.#decrypted
    const opened = this.#value(record)
    return this.#decrypted === before ? line : asciiJson(opened as object)
  }

  #value(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (Array.isArray(value)) return value.map((item) => this.#value(item))
    if (!isMembers(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.#value(item)]))
  }

  #text(text: string): string {
    if (!text.includes('~enc')) return text
    return text.replace(TOKEN, (token, ...groups: readonly string[]) =>
      this.#opened(token, groups[1] ?? groups[3]!, groups[2] ?? groups[4]!),
    )
  }

  #opened(token: string, id: string, sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64url')
    for (const key of this.#keys) {
      const text = decryptWith(key, id, bytes)
      if (text === null) continue
      this.#decrypted++
      return text
    }
    this.#unopened.add(id)
    return token
  }
}
