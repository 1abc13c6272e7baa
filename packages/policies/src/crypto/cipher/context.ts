import type { Exchange } from '@sluice/core'
import { compileTemplate } from '../../shared/template.js'

/** What binds an encrypted value to where it belongs. @throws Error for a location that is not known. */
export function compileContext(text = ''): (x: Exchange) => Uint8Array {
  const compiled = compileTemplate(text)
  if (typeof compiled !== 'string') return (x) => Buffer.from(compiled(x))
  const fixed = Buffer.from(compiled)
  return () => fixed
}
