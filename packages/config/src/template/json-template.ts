import { isIssue } from '../diagnostic/issue.js'
import { escapeText, isTemplate, parseTemplate } from './text-template.js'

const SUFFIX = '|json}'

/**
 * Returns a value as JSON in which references are written `${env:NAME|json}`. Their values are escaped for
 * JSON strings: a quote in a value would otherwise break the JSON.
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

/** True if the value of a reference must be escaped for a JSON string. */
export function isJsonReference(reference: string): boolean {
  return reference.endsWith(SUFFIX)
}

/** Returns the reference as written in the document. */
export function plainReference(reference: string): string {
  return isJsonReference(reference) ? `${reference.slice(0, -SUFFIX.length)}}` : reference
}

/** Escapes a value for a JSON string. */
export function asJsonText(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}

function jsonText(text: string): string {
  const template = isTemplate(text) ? parseTemplate(text) : [text]
  if (isIssue(template)) throw new Error('unchecked references')
  const parts = template.map((part) =>
    typeof part === 'string' ? escapeText(asJsonText(part)) : `${part.text.slice(0, -1)}${SUFFIX}`,
  )
  return `"${parts.join('')}"`
}
