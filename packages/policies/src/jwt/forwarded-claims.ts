import { type HeaderList, isFieldValue, removeHeader } from '@sluice/core'
import { fieldName } from '../header/field-name.js'
import type { JsonObject } from '../jose/strict-json.js'
import { claimAt, claimText } from './claim.js'

/** Claims for the upstream, by the headers that carry them. */
export class ForwardedClaims {
  readonly #claims: readonly (readonly [string, string])[]

  /**
   * @param tokenHeader brings the token, and is read after the others were cleared.
   * @throws Error for a header that cannot be set, or that stands twice.
   */
  constructor(claims: Readonly<Record<string, string>>, tokenHeader: string) {
    this.#claims = Object.entries(claims).map(([claim, written]) => [claim, fieldName('request', written)])
    const names = this.#claims.map(([, name]) => name)
    const repeated = names.find((name, i) => names.indexOf(name) !== i)
    if (names.includes(tokenHeader))
      throw new Error(`'${tokenHeader}' brings the token; forward the claim in another header`)
    if (repeated !== undefined) throw new Error(`'${repeated}' stands twice under 'forwardClaims'; keep one`)
  }

  /** Takes out what the client sent under these names. */
  clear(headers: HeaderList): void {
    for (let i = 0; i < this.#claims.length; i++) removeHeader(headers, this.#claims[i]![1])
  }

  /** The header lines for these claims, names and values in turn. */
  linesOf(claims: JsonObject): readonly string[] {
    return this.#claims.flatMap(([claim, name]) => {
      const text = claimText(claimAt(claims, claim))
      return text !== null && text !== '' && isFieldValue(text) ? [name, text] : []
    })
  }
}
