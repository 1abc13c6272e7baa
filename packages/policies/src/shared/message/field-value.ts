import { isFieldValue } from '@sluice/core'
import { compileTemplate, type OwnVariables, type Render } from '../options/template.js'

/**
 * Compiles the value of a header, which may contain placeholders.
 * @throws Error for a value that no header can have.
 */
export function compileFieldValue(name: string, text: string, own?: OwnVariables): string | Render {
  if (/[\r\n]/.test(text))
    throw new Error(`the value of '${name}' has a line break; headers have only one line`)
  const value = compileTemplate(text, null, own)
  const fixed = typeof value === 'string' ? value : text
  if (!isFieldValue(fixed))
    throw new Error(
      `the value of '${name}' has a character that is not allowed in headers; use visible ASCII and spaces`,
    )
  return value
}

/** Returns true if a rendered value can be sent. Rendered values come from outside and could contain line breaks. */
export function isUsableValue(rendered: string): boolean {
  return rendered !== '' && isFieldValue(rendered)
}
