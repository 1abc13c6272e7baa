import { isFieldValue } from '@sluice/core'
import { compileTemplate, type OwnVariables, type Render } from './template.js'

/**
 * Compiles the value of a header field, which may hold placeholders.
 * @throws Error for a value that no header may hold.
 */
export function compileFieldValue(name: string, text: string, own?: OwnVariables): string | Render {
  if (/[\r\n]/.test(text)) throw new Error(`the value of '${name}' has a line break; a header is one line`)
  const value = compileTemplate(text, null, own)
  const fixed = typeof value === 'string' ? value : text
  if (!isFieldValue(fixed)) {
    throw new Error(
      `the value of '${name}' has a character that no header may hold; use visible ASCII and spaces`,
    )
  }
  return value
}

/** A rendered value comes from outside: nothing is sent rather than something that could break a line. */
export function isUsableValue(rendered: string): boolean {
  return rendered !== '' && isFieldValue(rendered)
}
