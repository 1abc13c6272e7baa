import { MASK, SensitiveNames, VALUE_TYPES, type ValueTypeName } from '@sluice/core'

const NAMES = new SensitiveNames([])
/** Value types that are masked wherever they occur. */
const TYPES: readonly ValueTypeName[] = ['jwt', 'private-key', 'aws-key']
const USER_INFO = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/?#@'"`]+)@/gi
const PARAMETER = /([?&])([\w.[\]-]{1,64})=([^&#\s"'`]+)/g
const SCHEME = /\b(Bearer|Basic|Token|ApiKey|Api-Key)( {1,4})(?=\S{0,200}\d|\S{20})[\w.~+/-]{6,}=*/gi
/** Matches a name with a string assigned to or compared with it, as in scripts, conditions, JSON and XML. */
const ASSIGNMENT =
  /((["'`]?)([\w.-]{2,64})\2\s{0,8}\]?\s{0,8}(?:[=!]==?|:=|[:=,])\s{0,8})(["'`])((?:\\.|(?!\4)[^\\\r\n])+)\4/g
/** Matches quoted strings, and the end of a comparison or statement. */
const QUOTED_OR_END = /(["'`])(?:\\.|(?!\1)[^\\\r\n])*\1|&&|\|\||[;?\r\n]/g
const PLACEHOLDERS = /\$\{(?:env|file|vault):[^{}]*\}|\{\{[^{}]*\}\}/g
const SCHEME_ALONE = /^(?:bearer|basic|token|apikey|api-key)?$/i

/** True if values under this name are secret, as for a header, parameter or variable. */
export function isSecretName(name: string): boolean {
  return NAMES.has(name)
}

/** Masks the default of a reference, which is a literal in the document. */
export function maskedDefault(reference: string): string {
  return reference.replace(/(:-)[^}]+/, `$1${MASK}`)
}

/** Matches possible keys and tokens, and placeholders, which are always shown. */
const RUN = /\$\{(?:env|file|vault):[^{}]*\}|\{\{[^{}]*\}\}|[\w+=~-]{16,}/g
/** Minimum number of changes between letters and digits in a random string. */
const LEAST_SWITCHES = 3

/**
 * Masks strings that look like keys or tokens, for values under user-defined names that do not reveal their
 * purpose: `x-origin-verify: 4f9a8b7c6d5e4f3a2b1c`.
 */
export function maskRandom(text: string): string {
  return text.replace(RUN, (run) =>
    !/^[${]/.test(run) && (run.match(/[a-z](?=[-_]?\d)|\d(?=[-_]?[a-z])/gi)?.length ?? 0) >= LEAST_SWITCHES
      ? MASK
      : run,
  )
}

/** Masks a value under the name of a secret. References are shown, literal text is not. */
export function maskedLiteral(text: string): string {
  if (text.includes('$${')) return MASK
  return SCHEME_ALONE.test(text.replace(PLACEHOLDERS, '').trim())
    ? text.replace(PLACEHOLDERS, maskedDefault)
    : MASK
}

/** Masks the literal secrets within a string: in URLs, code and conditions. */
export function maskLiterals(text: string): string {
  if (text.length < 4) return text
  return maskBesideIndexes(withoutValues(text))
    .replace(USER_INFO, (_, scheme: string, user: string) => `${scheme}${maskedUser(user)}@`)
    .replace(PARAMETER, (all, sign: string, name: string, value: string) =>
      NAMES.has(name) ? `${sign}${name}=${maskedLiteral(value)}` : all,
    )
    .replace(SCHEME, `$1$2${MASK}`)
    .replace(ASSIGNMENT, (all, before: string, _quote, name: string) => {
      const quoted = all.slice(before.length)
      return NAMES.has(name) ? before + quoted[0] + maskedLiteral(quoted.slice(1, -1)) + quoted[0] : all
    })
}

/**
 * Masks every string that is compared with `header["x-api-key"]` in any way: `"…" ==`, `in ["…"]`,
 * `.startsWith("…")`.
 */
function maskBesideIndexes(text: string): string {
  if (!text.includes('[')) return text
  let masked = ''
  let from = 0
  for (const { 0: end, index } of [...text.matchAll(QUOTED_OR_END), { 0: '', index: text.length }]) {
    if (isQuoted(end)) continue
    masked += maskedClause(text.slice(from, index)) + end
    from = index + end.length
  }
  return masked
}

function maskedClause(clause: string): string {
  const quoted = [...clause.matchAll(QUOTED_OR_END)]
  const isIndex = ({ 0: written, index }: RegExpExecArray): boolean =>
    /[\w)\]]\s*\[\s*$/.test(clause.slice(0, index)) && /^\s*\]/.test(clause.slice(index + written.length))
  if (!quoted.some((match) => isIndex(match) && NAMES.has(match[0].slice(1, -1)))) return clause
  return clause.replace(QUOTED_OR_END, (written, _quote, index: number) => {
    const match = quoted.find((other) => other.index === index)!
    return isIndex(match) ? written : written[0] + maskedLiteral(written.slice(1, -1)) + written[0]
  })
}

function isQuoted(text: string): boolean {
  return /^["'`]/.test(text)
}

function maskedUser(user: string): string {
  return user.replace(PLACEHOLDERS, '').replace(':', '') === ''
    ? user.replace(PLACEHOLDERS, maskedDefault)
    : MASK
}

function withoutValues(text: string): string {
  let rest = text
  for (const type of TYPES) {
    const spans = VALUE_TYPES[type](rest, false)
    for (let i = spans.length - 2; i >= 0; i -= 2)
      rest = rest.slice(0, spans[i]) + MASK + rest.slice(spans[i + 1])
  }
  return rest
}
