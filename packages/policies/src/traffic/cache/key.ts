import { createHash } from 'node:crypto'
import { type CompileEnv, type Exchange, type Expression, UnreadableBody } from '@sluice/core'
import { compileAmbiguity } from './ambiguity.js'

/** Maximum length of a key stored unchanged. Longer keys are stored as their beginning and a digest. */
const MAX_LENGTH = 500
const BEGINNING = 400

/** Cache key of a value. */
export interface ValueKey {
  readonly readsBody: boolean
  readonly readsResponse: boolean
  read(x: Exchange): string | null
}

/**
 * Compiles a key, `@CONSUMER/PART/PART`. Parts are percent-encoded, so that no input can imitate a second
 * part, another consumer's key or a digest.
 * @param isStrict rejects a request that contains a key input more than once.
 * @throws Error if an expression is invalid.
 */
export function compileValueKey(
  texts: string | readonly string[],
  { isShared, isStrict }: { readonly isShared: boolean; readonly isStrict: boolean },
  env: CompileEnv,
): ValueKey {
  const list = typeof texts === 'string' ? [texts] : texts
  const parts = list.map((text) => env.expression(text))
  const isAmbiguous = isStrict ? compileAmbiguity(list) : () => false
  return {
    readsBody: parts.some(({ readsBody }) => readsBody),
    readsResponse: parts.some(({ readsResponse }) => readsResponse),
    read(x) {
      try {
        const key = isAmbiguous(x) ? null : keyOf(parts, isShared, x)
        return key !== null && key.length > MAX_LENGTH ? shortened(key) : key
      } catch (error) {
        if (error instanceof UnreadableBody && error.isAmbiguous && x.upstreamStatus === 0) throw error
        // The expression cannot be evaluated for this body, or the value is not valid Unicode.
        return null
      }
    },
  }
}

function keyOf(parts: readonly Expression[], isShared: boolean, x: Exchange): string | null {
  let key = isShared ? '' : `@${encoded(x.consumer?.id ?? '')}/`
  for (const [i, part] of parts.entries()) {
    const value = part.value(x)
    if (value === null || value === '') return null
    key += i === 0 ? encoded(String(value)) : `/${encoded(String(value))}`
  }
  return key
}

/** @throws URIError for an unpaired surrogate. */
function encoded(text: string): string {
  const escaped = encodeURIComponent(text).replaceAll('~', '%7E')
  return escaped === '.' || escaped === '..' ? escaped.replaceAll('.', '%2E') : escaped
}

function shortened(key: string): string {
  return `${key.slice(0, BEGINNING)}~${createHash('sha256').update(key).digest('base64url')}`
}
