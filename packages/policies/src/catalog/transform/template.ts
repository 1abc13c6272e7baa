import { type Exchange, escapedXml } from '@sluice/core'
import { compileJsonPath } from '../../engines/json/path.js'
import { compileTemplate } from '../../shared/template.js'

/** What a template makes. */
export type Output = 'json' | 'text' | 'xml'

/** The text that a template makes for an exchange and the parsed body. */
export interface Template {
  render(x: Exchange, body: unknown): string
  /** Whether it reads the body at all. */
  readonly readsBody: boolean
}

type Part = (x: Exchange, body: unknown) => string

/**
 * Compiles a template.
 * @throws Error when a placeholder is not closed, its path is none, or the template does not make JSON where it has to.
 */
export function compileBodyTemplate(text: string, output: Output): Template {
  const parts: Part[] = []
  let sample = ''
  let readsBody = false
  let from = 0
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', from)) {
    const close = text.indexOf('}}', open)
    if (close === -1)
      throw new Error("the template has '{{' without '}}'; close the placeholder, for example {{$.id}}")
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

/** How a value becomes text after this beginning of the output. */
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

/** Whether a string is open at the end of the beginning of a JSON text. */
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
      `the template does not make JSON (${(cause as Error).message}); correct it, or write output: text`,
      { cause },
    )
  }
}

/** XML 1.0: what stands for markup is escaped, and what no document may hold is left out. */
function escapeXml(text: string): string {
  return escapedXml(text.replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, ''))
}
