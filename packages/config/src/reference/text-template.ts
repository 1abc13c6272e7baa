import { type Flaw, isFlaw } from '../flaw.js'

/** `${env:NAME}`, `${env:NAME:-DEFAULT}` or `${file:PATH}` as it stands in a text. */
export interface Reference {
  /** As written, braces included. */
  readonly text: string
  readonly kind: 'env' | 'file'
  readonly name: string
  /** What an environment variable that is not set, or empty, stands for; null: nothing does. */
  readonly fallback: string | null
}

/** A text cut into what stands for itself and what stands for a value; escapes are undone. */
export type TextTemplate = readonly (string | Reference)[]

const MAX_REFERENCE_LENGTH = 1024
/** "|" is kept for the form that a value takes (see asJsonText), in defaults and in paths. */
const ENV = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^|{}\u0000-\u001f]*))?$/
const FILE_PATH = /^[^|{}\u0000-\u001f]+$/

/** Whether a text has references or escapes; all others mean what they say. */
export function isTemplate(text: string): boolean {
  return text.includes('${')
}

/** Cuts a text at its references; `$${` stands for a literal `${`. */
export function parseTemplate(text: string): TextTemplate | Flaw {
  const parts: (string | Reference)[] = []
  let literal = ''
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('$${', at)) {
      literal += '${'
      at += 3
    } else if (text.startsWith('${', at)) {
      const reference = readReference(text, at)
      if (isFlaw(reference)) return reference
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

/** The references of a template, in order. */
export function referencesOf(template: TextTemplate): readonly Reference[] {
  return template.filter((part) => typeof part !== 'string')
}

/** A reference as messages show it: its default may stand where a secret is expected. */
export function shownReference(text: string): string {
  return text.replace(/(:-)[^}]+/, '$1…')
}

/** The text that parses to itself: its `${` are escaped. */
export function escapeText(text: string): string {
  return text.replaceAll('${', () => '$${')
}

function readReference(text: string, at: number): Reference | Flaw {
  const end = text.indexOf('}', at)
  if (end === -1)
    return { message: "a reference is not closed with '}'", remedy: 'write $${ for a literal ${' }
  const whole = text.slice(at, end + 1)
  const colon = whole.indexOf(':')
  const kind = whole.slice(2, Math.max(colon, 2))
  const name = whole.slice(colon + 1, -1)
  const env = kind === 'env' ? ENV.exec(name) : null
  if (env !== null && whole.length <= MAX_REFERENCE_LENGTH)
    return { text: whole, kind: 'env', name: env[1]!, fallback: env[2] ?? null }
  if (kind === 'file' && FILE_PATH.test(name) && whole.length <= MAX_REFERENCE_LENGTH) {
    return { text: whole, kind, name, fallback: null }
  }
  return {
    message: `'${shownReference(whole).slice(0, 80)}' is not a reference`,
    remedy: 'write ${env:NAME}, ${env:NAME:-default} or ${file:PATH}, or $${ for a literal ${',
  }
}
