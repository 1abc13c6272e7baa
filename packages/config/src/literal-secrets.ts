import { SensitiveNames, VALUE_TYPES, type ValueTypeName } from '@sluice/core'

/** What stands in place of a secret. */
export const MASK = '***'

const NAMES = new SensitiveNames([])
/** Values that are secrets wherever they stand. */
const TYPES: readonly ValueTypeName[] = ['jwt', 'private-key', 'aws-key']
const USER_INFO = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/?#@'"`]+)@/gi
const PARAMETER = /([?&])([\w.[\]-]{1,64})=([^&#\s"'`]+)/g
const SCHEME = /\b(Bearer|Basic|Token|ApiKey|Api-Key)( {1,4})(?=\S{0,200}\d|\S{20})[\w.~+/-]{6,}=*/gi
/** A name, and a text that is given to it or compared with it, as scripts, conditions, JSON and XML have them. */
const ASSIGNMENT =
  /((["'`]?)([\w.-]{2,64})\2\s{0,8}\]?\s{0,8}(?:[=!]==?|:=|[:=,])\s{0,8})(["'`])((?:\\.|(?!\4)[^\\\r\n])+)\4/g
const PLACES = /\$\{(?:env|file):[^{}]*\}|\{\{[^{}]*\}\}/g
const SCHEME_ALONE = /^(?:bearer|basic|token|apikey|api-key)?$/i

/** Whether a name is one under which secrets stand: of a header, a parameter, a variable. */
export function isSecretName(name: string): boolean {
  return NAMES.has(name)
}

/** A default of a reference is written into the document as any other secret would be. */
export function maskedDefault(reference: string): string {
  return reference.replace(/(:-)[^}]+/, `$1${MASK}`)
}

/** A value that stands under the name of a secret: what it refers to is shown, what is written there is not. */
export function maskedLiteral(text: string): string {
  if (text.includes('$${')) return MASK
  return SCHEME_ALONE.test(text.replace(PLACES, '').trim()) ? text.replace(PLACES, maskedDefault) : MASK
}

/** A text of the document with the secrets masked that are written in it: in URLs, in code, in conditions. */
export function maskLiterals(text: string): string {
  if (text.length < 4) return text
  return withoutValues(text)
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

function maskedUser(user: string): string {
  return user.replace(PLACES, '').replace(':', '') === '' ? user.replace(PLACES, maskedDefault) : MASK
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
