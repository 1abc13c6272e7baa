import { type HeaderList, isFieldValue } from '@sluice/core'
import type { JsonObject } from '../../shared/json/strict-json.js'
import { fieldName } from '../../shared/message/field-name.js'
import { SpoofedFields } from '../../shared/message/spoofed-fields.js'
import { claimAt, claimText } from './claim.js'

/** Claims to forward to the upstream, with their headers. */
export class ForwardedClaims {
  readonly #claims: readonly (readonly [string, string])[]
  readonly #names: SpoofedFields

  /**
   * @param tokenHeader header with the token, which is read after the others were removed.
   * @throws Error if a header cannot be set or is listed twice.
   */
  constructor(claims: Readonly<Record<string, string>> = {}, tokenHeader: string) {
    this.#claims = Object.entries(claims).map(([claim, written]) => [claim, fieldName('request', written)])
    const names = this.#claims.map(([, name]) => name)
    this.#names = new SpoofedFields(names)
    const repeated = names.find((name, i) => names.indexOf(name) !== i)
    if (this.#names.has(tokenHeader))
      throw new Error(`'${tokenHeader}' contains the token; forward the claim in a different header`)
    if (repeated !== undefined)
      throw new Error(`'${repeated}' is listed twice under 'forwardClaims'; keep one`)
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /**
   * Removes fields sent by the client under these names, or under spellings that an upstream may treat as
   * equal.
   */
  clear(headers: HeaderList): void {
    this.#names.removeFrom(headers)
  }

  /** Returns the header lines for the claims, as a flat list. */
  linesOf(claims: JsonObject): readonly string[] {
    return this.#claims.flatMap(([claim, name]) => {
      const text = claimText(claimAt(claims, claim))
      return text !== null && text !== '' && isFieldValue(text) ? [name, text] : []
    })
  }
}
