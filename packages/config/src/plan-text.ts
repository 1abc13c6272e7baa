import { FOLDER } from './reference/folder.js'
import { plainReference } from './reference/json-template.js'
import { shownReference } from './reference/text-template.js'

const PLACEHOLDERS = /\$\$\{|\$\{[^}]*\}/g

/** The references in a text of the plan, as they stand there. */
export function referencesIn(text: string): readonly string[] {
  if (!text.includes('${')) return []
  return [...text.matchAll(PLACEHOLDERS)]
    .map(([placeholder]) => placeholder)
    .filter((placeholder) => placeholder !== '$${')
}

/** A text of the plan with the values put in and its escapes undone. @throws Error when a value is missing. */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  if (!text.includes('${')) return text
  return text.replaceAll(PLACEHOLDERS, (placeholder) => {
    if (placeholder === '$${') return '${'
    const value = Object.hasOwn(values, placeholder) ? values[placeholder] : undefined
    if (value === undefined)
      throw new Error(
        `the plan has ${shownReference(plainReference(placeholder))}, but its value was not handed over`,
      )
    return value
  })
}

/** A value with every text in it replaced; parts in which nothing changes are not copied. */
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

/** Shorter values are no secrets, and stand in texts by chance. */
const MIN_CONCEALED = 3

/**
 * A text that was made of a resolved plan, such as the error of a policy, with the references in place of their values.
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
