import { parseItem } from '../../shared/structured-field/parser.js'
import type { Item } from '../../shared/structured-field/structured-field.js'
import { type Component, compileComponent, type FieldShapes } from './component.js'

/** A configured component and its item in the signature's list. */
export interface ListedComponent {
  readonly item: Item
  readonly component: Component
}

/**
 * Compiles configured components. The name needs no quotes, and parameters follow it.
 * @throws Error if a component is invalid for this kind of message, or is listed twice.
 */
export function compileComponents(
  texts: readonly string[],
  kind: 'request' | 'response',
  shapes: FieldShapes,
): ListedComponent[] {
  const seen = new Set<string>()
  return texts.map((text) => {
    const item = parseItem(quoted(text))
    if (item === null)
      throw new Error(`'${text}' is not a valid component; use for example @query-param;name="id"`)
    const component = compileComponent(item, kind, shapes)
    if (typeof component === 'string') throw new Error(component)
    if (seen.has(component.key)) throw new Error(`component '${text}' is listed twice; keep one`)
    seen.add(component.key)
    return { item, component }
  })
}

function quoted(text: string): string {
  if (text.startsWith('"')) return text
  const end = text.indexOf(';')
  return end === -1 ? `"${text.toLowerCase()}"` : `"${text.slice(0, end).toLowerCase()}"${text.slice(end)}`
}
