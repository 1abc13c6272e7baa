import type { Exchange } from '@sluice/core'
import { fieldName } from './field-name.js'
import { compileFieldValue, isUsableValue } from './field-value.js'
import type { Side } from './message/side.js'
import type { OwnVariables } from './template.js'

/**
 * Compiles the header fields of a message that the gateway makes, as a flat list; a list that no request changes stays one.
 * @param own variables of the policy for placeholders.
 * @param type the `content-type`, where the fields do not say it; empty: none.
 * @throws Error for a name or a value that no such message may have.
 */
export function compileFields(
  headers: Readonly<Record<string, string>>,
  type: string,
  side: Side = 'response',
  own?: OwnVariables,
): readonly string[] | ((x: Exchange) => readonly string[]) {
  const fields = Object.entries(headers).map(([written, value]) => {
    const name = fieldName(side, written)
    return [name, compileFieldValue(name, value, own)] as const
  })
  if (type !== '' && !fields.some(([name]) => name === 'content-type')) fields.push(['content-type', type])
  if (fields.every(([, value]) => typeof value === 'string')) return fields.flat() as string[]
  return (x) =>
    fields.flatMap(([name, value]) => {
      const text = typeof value === 'string' ? value : value(x)
      return isUsableValue(text) ? [name, text] : []
    })
}
