import type { Cookies } from '../field-location/cookie.js'

/** A browser keeps 4,096 bytes of a cookie, with its name and attributes (RFC 6265, section 6.1). */
const PART_LENGTH = 3500
/** All cookies of a request have to fit into its head, which is 16 KB by default. */
const MAX_PARTS = 3

/** How a cookie of the gateway is set. */
export interface CookieOptions {
  readonly name: string
  /** The site has TLS. */
  readonly isSecure: boolean
  /** Another site makes the browser send it along with a form; without TLS browsers take no such cookie. */
  readonly isSentByOthers?: boolean
}

/**
 * A long text in cookies that no script reads and that other sites do not send along: `name` holds the number of parts and
 * the first of them, `name.1` the next one.
 */
export class CookieJar {
  /** With the prefix by which browsers take it from this host and over TLS alone (RFC 6265bis, section 4.1.3.2). */
  readonly name: string
  readonly #attributes: string

  constructor({ name, isSecure, isSentByOthers = false }: CookieOptions) {
    this.name = isSecure ? `__Host-${name}` : name
    const sameSite = isSecure && isSentByOthers ? 'None' : 'Lax'
    this.#attributes = `; Path=/; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`
  }

  has(name: string): boolean {
    return (
      name === this.name || (name.startsWith(`${this.name}.`) && /^\.\d$/.test(name.slice(this.name.length)))
    )
  }

  /** The text; '' when there is none, or not all of it. */
  read(cookies: Cookies): string {
    const first = cookies.get(this.name) ?? ''
    const count = Number(first[0])
    if (first[1] !== '-' || !(count >= 1 && count <= MAX_PARTS)) return ''
    let text = first.slice(2)
    for (let i = 1; i < count; i++) {
      const part = cookies.get(`${this.name}.${i}`)
      if (part === undefined) return ''
      text += part
    }
    return text
  }

  /** The Set-Cookie fields of a text, and of what it takes the place of; null: it is too long. */
  write(text: string, maxAgeSeconds: number, before: Cookies): string[] | null {
    const count = Math.max(1, Math.ceil(text.length / PART_LENGTH))
    if (count > MAX_PARTS) return null
    const fields: string[] = []
    for (let i = 0; i < count; i++) {
      const part = text.slice(i * PART_LENGTH, (i + 1) * PART_LENGTH)
      const value = i === 0 ? `${count}-${part}` : part
      fields.push('set-cookie', `${this.#nameOf(i)}=${value}; Max-Age=${maxAgeSeconds}${this.#attributes}`)
    }
    return [...fields, ...this.#ended(before, count)]
  }

  /** The Set-Cookie fields that end what a request has brought. */
  clear(before: Cookies): string[] {
    return this.#ended(before, 0)
  }

  #ended(before: Cookies, from: number): string[] {
    const fields: string[] = []
    for (let i = from; i < MAX_PARTS; i++) {
      const name = this.#nameOf(i)
      if (before.has(name)) fields.push('set-cookie', `${name}=; Max-Age=0${this.#attributes}`)
    }
    return fields
  }

  #nameOf(part: number): string {
    return part === 0 ? this.name : `${this.name}.${part}`
  }
}
