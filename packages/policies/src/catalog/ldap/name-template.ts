import { FilterParser } from 'ldapts'
import { escapeNameValue, parseDistinguishedName } from '../../shared/distinguished-name.js'

/** What a template may name: the user name as it was sent, and the name of the user's entry. */
type Values = Readonly<Partial<Record<'username' | 'dn', string>>>

const PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/g
/** A user name where no escape protects what stands around it. */
const PLAIN_USER = /^[\p{L}\p{N}](?:[\p{L}\p{N}._'-]*[\p{L}\p{N}._-])?$/u

/** A template with values put into it, each of which stays one value; null: one cannot stand there. */
export type Template = (values: Values) => string | null

/**
 * The name to bind with, `uid={{username}},ou=people,dc=example,dc=org`, or a name that is not one of an entry:
 * `{{username}}@example.org`, `EXAMPLE\{{username}}`.
 * @throws Error for one that is neither.
 */
export function nameTemplate(text: string): Template {
  const parts = partsOf(text, ['username'], 'userDn')
  if (text.includes('=')) {
    // What can stand in a value and nowhere else: not in a type, nor behind a backslash.
    if (parseDistinguishedName(filled(parts, { username: '~' }, escapeNameValue)) === null)
      throw new Error(
        "'userDn' is no distinguished name; write one such as uid={{username}},ou=people,dc=example",
      )
    return (values) => filled(parts, values, escapeNameValue)
  }
  if (!/[@\\]/.test(text))
    throw new Error("'userDn' has to be a distinguished name, or to have @ or \\ around {{username}}")
  return (values) => (PLAIN_USER.test(values.username ?? '') ? filled(parts, values, (value) => value) : null)
}

/**
 * A search filter, `(&(objectClass=person)(uid={{username}}))`, with its values escaped (RFC 4515, 3).
 * @throws Error for one that is none.
 */
export function filterTemplate(text: string, names: readonly (keyof Values)[], what: string): Template {
  const parts = partsOf(text.startsWith('(') ? text : `(${text})`, names, what)
  try {
    // What is not a letter is taken nowhere but in a value.
    FilterParser.parseString(filled(parts, { username: '*()', dn: '*()' }, escapeFilterValue))
  } catch {
    throw new Error(`'${what}' is no search filter; write one such as (uid={{username}})`)
  }
  return (values) => filled(parts, values, escapeFilterValue)
}

/** RFC 4515, 3; and for line breaks and the like, which nobody expects in a filter. */
export function escapeFilterValue(value: string): string {
  return value.replace(
    /[\u0000-\u001f*()\\\u007f]/g,
    (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}

/** Text and names of placeholders in turn. @throws Error for a placeholder that is not known here, or when there is none. */
function partsOf(text: string, names: readonly string[], what: string): readonly string[] {
  const parts = text.split(PLACEHOLDER)
  const unknown = parts.find((part, i) => i % 2 === 1 && !names.includes(part))
  const known = names.map((name) => `{{${name}}}`).join(' or ')
  if (unknown !== undefined) throw new Error(`'${what}' names {{${unknown}}}; it can name ${known}`)
  if (parts.length === 1) throw new Error(`'${what}' does not name ${known}`)
  return parts
}

function filled(parts: readonly string[], values: Values, escaped: (value: string) => string): string {
  return parts.map((part, i) => (i % 2 === 0 ? part : escaped(values[part as keyof Values] ?? ''))).join('')
}
