import { FOLDER } from '../template/folder.js'
import { plainReference } from '../template/json-template.js'
import { shownReference, VAULT_PREFIX } from '../template/text-template.js'

const PLACEHOLDERS = /\$\$\{|\$\{[^}]*\}/g

/** Returns the references in a string of the plan, as written. */
export function referencesIn(text: string): readonly string[] {
  if (!text.includes('${')) return []
  return [...text.matchAll(PLACEHOLDERS)]
    .map(([placeholder]) => placeholder)
    .filter((placeholder) => placeholder !== '$${')
}

/** Resolves the references and escapes in a string of the plan. @throws Error if a value is missing */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  if (!text.includes('${')) return text
  return text.replaceAll(PLACEHOLDERS, (placeholder) => {
    if (placeholder === '$${') return '${'
    const value = Object.hasOwn(values, placeholder) ? values[placeholder] : undefined
    if (value === undefined)
      throw new Error(
        `the plan contains ${shownReference(plainReference(placeholder))}, but its value is missing`,
      )
    return value
  })
}

/** Replaces all strings in a value. Unchanged parts are not copied. */
export function mapTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => mapTexts(item, replace))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  let copy: Record<string, unknown> | null = null
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key]
    const mapped = mapTexts(item, replace)
    if (mapped === item) continue
    copy ??= { ...value }
    copy[key] = mapped
  }
  return copy ?? value
}

/** True if a part of a resolved plan contains a secret that this process has not read from Vault. */
export function hasUnreadSecret(part: unknown): boolean {
  return JSON.stringify(part)?.includes(VAULT_PREFIX) ?? false
}

/** Minimum length of a value to conceal. Shorter values are not secrets and occur in text by chance. */
const MIN_CONCEALED = 3

/**
 * Replaces the values of references with the references in a text derived from a resolved plan, such as an
 * error of a policy.
 */
export function conceal(text: string, values: Readonly<Record<string, string>>): string {
  const secrets = Object.entries(values).filter(([reference]) => reference !== FOLDER)
  const known = secrets.filter(([, value]) => value.length >= MIN_CONCEALED)
  known.sort(([, a], [, b]) => b.length - a.length)
  return known.reduce(
    (rest, [reference, value]) => rest.replaceAll(value, () => shownReference(plainReference(reference))),
    text,
  )
}
