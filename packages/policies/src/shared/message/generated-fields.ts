import type { Exchange } from '@sluice/core'
import type { OwnVariables } from '../options/template.js'
import { fieldName } from './field-name.js'
import { compileFieldValue, isUsableValue } from './field-value.js'
import type { Side } from './side.js'

/**
 * Compiles the headers of a generated message as a flat list. Without placeholders the result is a constant list.
 * @param type default `content-type`, or an empty string for none.
 * @param own variables of the policy for placeholders.
 * @throws Error for an invalid name or value.
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
