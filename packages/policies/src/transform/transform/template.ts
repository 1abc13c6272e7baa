import { type Exchange, escapedXml } from '@sluice/core'
import { compileJsonPath } from '../../engines/json/path.js'
import { compileTemplate } from '../../shared/options/template.js'

/** Output format of a template. */
export type Output = 'json' | 'text' | 'xml'

/** A compiled template. Renders text for an exchange and the parsed body. */
export interface Template {
  render(x: Exchange, body: unknown): string
  /** True if the template uses the body. */
  readonly readsBody: boolean
}

type Part = (x: Exchange, body: unknown) => string

/**
 * Compiles a template.
 * @throws Error for an unclosed placeholder, an invalid path, or a template that does not produce the
 * required JSON.
 */
export function compileBodyTemplate(text: string, output: Output): Template {
  const parts: Part[] = []
  let sample = ''
  let readsBody = false
  let from = 0
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', from)) {
    const close = text.indexOf('}}', open)
    if (close === -1)
      throw new Error("the template has '{{' without '}}': close the placeholder, as in {{$.id}}")
    const literal = text.slice(from, open)
    const placeholder = text.slice(open + 2, close).trim()
    sample += literal
    parts.push(() => literal, compilePlaceholder(placeholder, escapeFor(output, sample)))
    if (output === 'json' && !isInString(sample)) sample += 'null'
    readsBody ||= placeholder.startsWith('$')
    from = close + 2
  }
  const rest = text.slice(from)
  if (output === 'json') checkJson(sample + rest)
  return { readsBody, render: (x, body) => parts.reduce((made, part) => made + part(x, body), '') + rest }
}

function compilePlaceholder(placeholder: string, escaped: (value: unknown) => string): Part {
  if (!placeholder.startsWith('$')) {
    const render = compileTemplate(`{{${placeholder}}}`)
    return (x) => escaped(typeof render === 'string' ? render : render(x))
  }
  const path = compileJsonPath(placeholder)
  return (_, body) => escaped(path.first(body))
}

/** Returns the escaping for a value after this beginning of the output. */
function escapeFor(output: Output, before: string): (value: unknown) => string {
  if (output === 'text') return textOf
  if (output === 'xml') return (value) => escapeXml(textOf(value))
  if (isInString(before)) return (value) => JSON.stringify(textOf(value)).slice(1, -1)
  return (value) => JSON.stringify(value) ?? 'null'
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Returns true if a JSON text ends inside a string. */
function isInString(before: string): boolean {
  let isOpen = false
  for (let i = 0; i < before.length; i++) {
    if (isOpen && before[i] === '\\') i++
    else if (before[i] === '"') isOpen = !isOpen
  }
  return isOpen
}

function checkJson(sample: string): void {
  try {
    JSON.parse(sample)
  } catch (cause) {
    throw new Error(
      `the template does not produce JSON (${(cause as Error).message}): correct it, or set output: text`,
      { cause },
    )
  }
}

/** Escapes text for XML 1.0. Drops characters that are not allowed there. */
function escapeXml(text: string): string {
  return escapedXml(text.replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, ''))
}
