import { type HeaderList, isFieldValue } from '@sluice/core'
import type { JsonObject } from '../../engines/json/strict-json.js'
import { fieldName } from '../../shared/field-name.js'
import { SpoofedFields } from '../../shared/spoofed-fields.js'
import { claimAt, claimText } from './claim.js'

/** Claims for the upstream, by the headers that carry them. */
export class ForwardedClaims {
  readonly #claims: readonly (readonly [string, string])[]
  readonly #names: SpoofedFields

  /**
   * @param tokenHeader brings the token, and is read after the others were cleared.
   * @throws Error for a header that cannot be set, or that stands twice.
   */
  constructor(claims: Readonly<Record<string, string>>, tokenHeader: string) {
    this.#claims = Object.entries(claims).map(([claim, written]) => [claim, fieldName('request', written)])
    const names = this.#claims.map(([, name]) => name)
    this.#names = new SpoofedFields(names)
    const repeated = names.find((name, i) => names.indexOf(name) !== i)
    if (this.#names.has(tokenHeader))
      throw new Error(`'${tokenHeader}' brings the token; forward the claim in another header`)
    if (repeated !== undefined) throw new Error(`'${repeated}' stands twice under 'forwardClaims'; keep one`)
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** Takes out what the client sent under these names, and under those that an upstream may take for them. */
  clear(headers: HeaderList): void {
    this.#names.removeFrom(headers)
  }

  /** The header lines for these claims, names and values in turn. */
  linesOf(claims: JsonObject): readonly string[] {
    return this.#claims.flatMap(([claim, name]) => {
      const text = claimText(claimAt(claims, claim))
      return text !== null && text !== '' && isFieldValue(text) ? [name, text] : []
    })
  }
}
