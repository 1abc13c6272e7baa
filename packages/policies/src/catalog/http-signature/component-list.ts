import { parseItem } from '../../shared/structured-field/parser.js'
import type { Item } from '../../shared/structured-field/structured-field.js'
import { type Component, compileComponent, type FieldShapes } from './component.js'

/** A component of the document and the item it is in a signature's list. */
export interface ListedComponent {
  readonly item: Item
  readonly component: Component
}

/**
 * Components as the document writes them: the name needs no quotes, parameters follow it.
 * @throws Error for what is not a component of such a message, or stands twice.
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
      throw new Error(`'${text}' is not a component; write for example @query-param;name="id"`)
    const component = compileComponent(item, kind, shapes)
    if (typeof component === 'string') throw new Error(component)
    if (seen.has(component.key)) throw new Error(`component '${text}' stands twice; keep one`)
    seen.add(component.key)
    return { item, component }
  })
}

function quoted(text: string): string {
  if (text.startsWith('"')) return text
  const end = text.indexOf(';')
  return end === -1 ? `"${text.toLowerCase()}"` : `"${text.slice(0, end).toLowerCase()}"${text.slice(end)}`
}
