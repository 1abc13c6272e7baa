import { type Issue, isIssue } from '../diagnostic/issue.js'

/** A reference in a string: `${env:NAME}`, `${env:NAME:-DEFAULT}`, `${file:PATH}` or `${vault:PATH#KEY}`. */
export interface Reference {
  /** The reference as written, including the braces. */
  readonly text: string
  readonly kind: 'env' | 'file' | 'vault'
  readonly name: string
  /** Default for a variable that is unset or empty; null: none. */
  readonly fallback: string | null
}

/** A string split into literal parts (with escapes resolved) and references. */
export type TextTemplate = readonly (string | Reference)[]

const MAX_REFERENCE_LENGTH = 1024
/** Matches variables with an optional default. "|" is reserved for the JSON form (see asJsonText). */
const ENV = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^|{}\u0000-\u001f]*))?$/
const FILE_PATH = /^[^|{}\u0000-\u001f]+$/
/** Matches the path and the key of a secret. Segments of the path must not be empty, `.` or `..`. */
const VAULT_SECRET =
  /^(?!\.{1,2}(?:[/#]))[^/#|{}\u0000-\u001f]+(?:\/(?!\.{1,2}[/#])[^/#|{}\u0000-\u001f]+)*#[^#|{}\u0000-\u001f]+$/

/** True if a string contains references or escapes. */
export function isTemplate(text: string): boolean {
  return text.includes('${')
}

/** Parses the references in a string; `$${` is a literal `${`. */
export function parseTemplate(text: string): TextTemplate | Issue {
  const parts: (string | Reference)[] = []
  let literal = ''
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('$${', at)) {
      literal += '${'
      at += 3
    } else if (text.startsWith('${', at)) {
      const reference = readReference(text, at)
      if (isIssue(reference)) return reference
      if (literal !== '') parts.push(literal)
      parts.push(reference)
      literal = ''
      at += reference.text.length
    } else {
      literal += text[at]
      at++
    }
  }
  if (literal !== '' || parts.length === 0) parts.push(literal)
  return parts
}

/** Returns the references of a template, in order. */
export function referencesOf(template: TextTemplate): readonly Reference[] {
  return template.filter((part) => typeof part !== 'string')
}

/** Formats a reference for messages. The default is hidden because it may be a secret. */
export function shownReference(text: string): string {
  return text.replace(/(:-)[^}]+/, '$1…')
}

/** Start of a reference to a secret in Vault. */
export const VAULT_PREFIX = '${vault:'

/** Returns the references to Vault in a text, also those in comments. */
export function vaultReferencesIn(text: string): readonly string[] {
  if (!text.includes(VAULT_PREFIX)) return []
  return [...new Set([...text.matchAll(/\$\$\{|\$\{vault:[^}\n]*\}/g)].map(([found]) => found))].filter(
    (found) => found !== '$${' && !isIssue(parseTemplate(found)),
  )
}

/** Escapes `${` in a string. */
export function escapeText(text: string): string {
  return text.replaceAll('${', () => '$${')
}

function readReference(text: string, at: number): Reference | Issue {
  const end = text.indexOf('}', at)
  if (end === -1)
    return { message: "a reference lacks its closing '}'", remedy: 'write $${ for a literal ${' }
  const whole = text.slice(at, end + 1)
  const colon = whole.indexOf(':')
  const kind = whole.slice(2, Math.max(colon, 2))
  const name = whole.slice(colon + 1, -1)
  const env = kind === 'env' ? ENV.exec(name) : null
  if (env !== null && whole.length <= MAX_REFERENCE_LENGTH)
    return { text: whole, kind: 'env', name: env[1]!, fallback: env[2] ?? null }
  if (kind === 'file' && FILE_PATH.test(name) && whole.length <= MAX_REFERENCE_LENGTH)
    return { text: whole, kind, name, fallback: null }
  if (kind === 'vault' && VAULT_SECRET.test(name) && whole.length <= MAX_REFERENCE_LENGTH)
    return { text: whole, kind, name, fallback: null }
  return {
    message: `'${shownReference(whole).slice(0, 80)}' is not a valid reference`,
    remedy:
      'write ${env:NAME}, ${env:NAME:-default}, ${file:PATH} or ${vault:PATH#KEY}; write $${ for a literal ${',
  }
}
