import { type HeaderList, isFieldValue } from '@sluice/core'
import type { JsonObject } from '../../engines/json/strict-json.js'
import { fieldName } from '../../shared/field-name.js'
import { claimAt, claimText } from './claim.js'

/** Claims for the upstream, by the headers that carry them. */
export class ForwardedClaims {
  readonly #claims: readonly (readonly [string, string])[]
  readonly #names: ReadonlySet<string>

  /**
   * @param tokenHeader brings the token, and is read after the others were cleared.
   * @throws Error for a header that cannot be set, or that stands twice.
   */
  constructor(claims: Readonly<Record<string, string>>, tokenHeader: string) {
    this.#claims = Object.entries(claims).map(([claim, written]) => [claim, fieldName('request', written)])
    const names = this.#claims.map(([, name]) => name)
    this.#names = new Set(names.map(plainName))
    const repeated = names.find((name, i) => names.indexOf(name) !== i)
    if (this.#names.has(plainName(tokenHeader)))
      throw new Error(`'${tokenHeader}' brings the token; forward the claim in another header`)
    if (repeated !== undefined) throw new Error(`'${repeated}' stands twice under 'forwardClaims'; keep one`)
  }

  /** Takes out what the client sent under these names, and under those that an upstream may take for them. */
  clear(headers: HeaderList): void {
    if (this.#names.size === 0) return
    let kept = 0
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!
      if (this.#names.has(plainName(name))) continue
      headers[kept] = name
      headers[kept + 1] = headers[i + 1]!
      kept += 2
    }
    headers.length = kept
  }

  /** The header lines for these claims, names and values in turn. */
  linesOf(claims: JsonObject): readonly string[] {
    return this.#claims.flatMap(([claim, name]) => {
      const text = claimText(claimAt(claims, claim))
      return text !== null && text !== '' && isFieldValue(text) ? [name, text] : []
    })
  }
}

/** Servers that hand header fields on as CGI does (RFC 3875 section 4.1.18) do not distinguish `x_user` from `x-user`. */
function plainName(name: string): string {
  return name.includes('_') ? name.replaceAll('_', '-') : name
}
