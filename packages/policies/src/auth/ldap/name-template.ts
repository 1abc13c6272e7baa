import { FilterParser } from 'ldapts'
import { escapeNameValue, parseDistinguishedName } from '../../identity/consumers/distinguished-name.js'

/** Template variables: the user name as sent, and the DN of the user's entry. */
type Values = Readonly<Partial<Record<'username' | 'dn', string>>>

const PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/g
/** User names that are safe without escaping. */
const PLAIN_USER = /^[\p{L}\p{N}](?:[\p{L}\p{N}._'-]*[\p{L}\p{N}._-])?$/u

/** Renders a template with escaped values. Returns null if a value is not allowed. */
export type Template = (values: Values) => string | null

/**
 * Compiles the name to bind with: a DN, `uid={{username}},ou=people,dc=example,dc=org`, or another form,
 * `{{username}}@example.org` or `EXAMPLE\{{username}}`.
 * @throws Error if it is neither.
 */
export function nameTemplate(text: string): Template {
  const parts = partsOf(text, ['username'], 'userDn')
  if (text.includes('=')) {
    // `~` is only valid inside a value, not in a type or after a backslash.
    if (parseDistinguishedName(filled(parts, { username: '~' }, escapeNameValue)) === null)
      throw new Error(
        "'userDn' is not a valid distinguished name; use for example uid={{username}},ou=people,dc=example",
      )
    return (values) => filled(parts, values, escapeNameValue)
  }
  if (!/[@\\]/.test(text))
    throw new Error("'userDn' must be a distinguished name, or contain @ or \\ beside {{username}}")
  return (values) => (PLAIN_USER.test(values.username ?? '') ? filled(parts, values, (value) => value) : null)
}

/**
 * Compiles a search filter such as `(&(objectClass=person)(uid={{username}}))`. Values are escaped (RFC 4515,
 * 3).
 * @throws Error if the filter is invalid.
 */
export function filterTemplate(text: string, names: readonly (keyof Values)[], what: string): Template {
  const parts = partsOf(text.startsWith('(') ? text : `(${text})`, names, what)
  try {
    // Characters other than letters are only valid in a value.
    FilterParser.parseString(filled(parts, { username: '*()', dn: '*()' }, escapeFilterValue))
  } catch {
    throw new Error(`'${what}' is not a valid search filter; use for example (uid={{username}})`)
  }
  return (values) => filled(parts, values, escapeFilterValue)
}

/** Escapes a value for a filter (RFC 4515, 3), including control characters. */
export function escapeFilterValue(value: string): string {
  return value.replace(
    /[\u0000-\u001f*()\\\u007f]/g,
    (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}

/**
 * Splits a template into text and placeholder names in turn. @throws Error if a placeholder is unknown, or if
 * there is none.
 */
function partsOf(text: string, names: readonly string[], what: string): readonly string[] {
  const parts = text.split(PLACEHOLDER)
  const unknown = parts.find((part, i) => i % 2 === 1 && !names.includes(part))
  const known = names.map((name) => `{{${name}}}`).join(' or ')
  if (unknown !== undefined)
    throw new Error(`'${what}' contains the unknown placeholder {{${unknown}}}; use ${known}`)
  if (parts.length === 1) throw new Error(`'${what}' must contain ${known}`)
  return parts
}

function filled(parts: readonly string[], values: Values, escaped: (value: string) => string): string {
  return parts.map((part, i) => (i % 2 === 0 ? part : escaped(values[part as keyof Values] ?? ''))).join('')
}
