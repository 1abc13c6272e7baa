import type { Exchange } from '@sluice/core'
import { fieldName } from '../../shared/field-name.js'
import { compileFieldValue, isUsableValue } from '../../shared/field-value.js'

/**
 * Compiles the header fields of an answer, as a flat list; a list that no request changes stays one.
 * @param type the `content-type`, where the fields do not say it; empty: none.
 * @throws Error for a name or a value that no response may have.
 */
export function compileFields(
  headers: Readonly<Record<string, string>>,
  type: string,
): readonly string[] | ((x: Exchange) => readonly string[]) {
  const fields = Object.entries(headers).map(([written, value]) => {
    const name = fieldName('response', written)
    return [name, compileFieldValue(name, value)] as const
  })
  if (type !== '' && !fields.some(([name]) => name === 'content-type')) fields.push(['content-type', type])
  if (fields.every(([, value]) => typeof value === 'string')) return fields.flat() as string[]
  return (x) =>
    fields.flatMap(([name, value]) => {
      const text = typeof value === 'string' ? value : value(x)
      return isUsableValue(text) ? [name, text] : []
    })
}
