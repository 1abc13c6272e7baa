import type { Exchange } from '@sluice/core'
import { compileTemplate } from '../../shared/options/template.js'

/** Compiles the context that binds an encrypted value to its place. @throws Error for an unknown variable. */
export function compileContext(text = ''): (x: Exchange) => Uint8Array {
  const compiled = compileTemplate(text)
  if (typeof compiled !== 'string') return (x) => Buffer.from(compiled(x))
  const fixed = Buffer.from(compiled)
  return () => fixed
}
