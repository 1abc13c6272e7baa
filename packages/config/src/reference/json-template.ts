import { isFlaw } from '../flaw.js'
import { escapeText, isTemplate, parseTemplate } from './text-template.js'

const SUFFIX = '|json}'

/**
 * A value as JSON text in which references stand for their values as parts of JSON strings, `${env:NAME|json}`:
 * put in as it is, a value with a quote would break the text.
 */
export function jsonTemplate(value: unknown): string {
  if (typeof value === 'string') return jsonText(value)
  if (Array.isArray(value)) return `[${value.map(jsonTemplate).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([key, item]) => `${escapeText(JSON.stringify(key))}:${jsonTemplate(item)}`,
  )
  return `{${members.join(',')}}`
}

/** Whether a reference of the plan asks for its value as a part of a JSON string. */
export function isJsonReference(reference: string): boolean {
  return reference.endsWith(SUFFIX)
}

/** The reference as the document has it. */
export function plainReference(reference: string): string {
  return isJsonReference(reference) ? `${reference.slice(0, -SUFFIX.length)}}` : reference
}

/** A value as a part of a JSON string. */
export function asJsonText(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}

function jsonText(text: string): string {
  const template = isTemplate(text) ? parseTemplate(text) : [text]
  if (isFlaw(template)) throw new Error('unchecked references')
  const parts = template.map((part) =>
    typeof part === 'string' ? escapeText(asJsonText(part)) : `${part.text.slice(0, -1)}${SUFFIX}`,
  )
  return `"${parts.join('')}"`
}
