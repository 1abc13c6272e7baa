import type { Cookies } from '../../shared/field-location/cookie.js'

/** Maximum length of one cookie value. Browsers allow 4,096 bytes with name and attributes (RFC 6265 section 6.1). */
const PART_LENGTH = 3500
/** Maximum number of cookies for one text. All cookies must fit into the request head, which is 16 KB by default. */
const MAX_PARTS = 3

/** Options for `CookieJar`. */
export interface CookieOptions {
  readonly name: string
  /** True if the site uses TLS. */
  readonly isSecure: boolean
  /** True if other sites must be able to send the cookie with a form. Browsers accept such cookies only with TLS. */
  readonly isSentByOthers?: boolean
}

/**
 * Stores a long text in several cookies that scripts cannot read and other sites cannot send. The cookie `name`
 * contains the number of parts and the first part, `name.1` the next one.
 */
export class CookieJar {
  /** Cookie name. With TLS it has the prefix that binds it to this host (RFC 6265bis section 4.1.3.2). */
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

  /** Returns the text, or '' if it is missing or incomplete. */
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

  /** Returns the Set-Cookie headers that store a text and expire obsolete parts, or null if the text is too long. */
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

  /** Returns the Set-Cookie headers that expire the cookies of a request. */
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
