import { createHash } from 'node:crypto'
import { type CompileEnv, type Exchange, type Expression, UnreadableBody } from '@sluice/core'
import { compileAmbiguity } from './ambiguity.js'

/** Longest key that is kept as it is, and what is kept of a longer one before its digest. */
const MAX_LENGTH = 500
const BEGINNING = 400

/** Reads the key of a value; null: there is none. */
export interface ValueKey {
  readonly readsBody: boolean
  readonly readsResponse: boolean
  read(x: Exchange): string | null
}

/**
 * A key of expressions, `@CONSUMER/PART/PART`: parts are percent-encoded, so that none looks like two, like that of a
 * consumer, or like a digest, whatever callers send.
 * @param isStrict a request that says twice what the key is made of has none.
 * @throws Error for an expression that is none.
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
        // What cannot be evaluated, such as in a body of another kind, or is no text in Unicode.
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

/** @throws URIError for half of a character. */
function encoded(text: string): string {
  const escaped = encodeURIComponent(text).replaceAll('~', '%7E')
  return escaped === '.' || escaped === '..' ? escaped.replaceAll('.', '%2E') : escaped
}

function shortened(key: string): string {
  return `${key.slice(0, BEGINNING)}~${createHash('sha256').update(key).digest('base64url')}`
}
