import { libxml } from '../../engines/xml/libxml.js'

/** A value that does not match its type as written. */
export interface MisreadValue {
  /** Address of the element. */
  readonly element: number
  /** Attribute with the value, or null for the text of the element. */
  readonly attribute: { readonly name: string; readonly namespace: string | null } | null
}

/**
 * Matches the message for a value with invalid syntax. Facets have other messages, and any text is a valid
 * string. White space around values of all other types is ignored (XML Schema Datatypes 4.3.6).
 */
const WRONG_SYNTAX =
  /^Element '[^']*'(?:, attribute '(?:\{([^}']*)\})?([^']*)')?: '.*' is not a valid value of the (?:local )?atomic type(?: '[^']*')?\.\s*$/s

/** Returns the value that a libxml2 message is about, or null for other messages. */
export function misreadValue(message: string, element: number): MisreadValue | null {
  const found = WRONG_SYNTAX.exec(message)
  if (found === null || element === 0) return null
  const [, namespace = null, name] = found
  return { element, attribute: name === undefined ? null : { name, namespace } }
}

const TEXT = 3
const CDATA = 4
/** XML white space. */
const BLANK = ' \t\n\r'

/**
 * Removes white space around values, which libxml2 does not do for dates, times and durations.
 * @returns a function that restores the values, because the document is shared, or null if nothing changed.
 */
export function collapseValues(values: readonly MisreadValue[]): (() => void) | null {
  const { XmlTreeCommonStruct: tree, xmlHasNsProp } = libxml().raw
  const undo: (() => void)[] = []
  for (const { element, attribute } of values) {
    const owner =
      attribute === null ? element : xmlHasNsProp(element as never, attribute.name, attribute.namespace)
    if (owner === 0) continue
    change(tree.children(owner as number), false, undo)
    change(tree.last(owner as number), true, undo)
  }
  if (undo.length === 0) return null
  return () => {
    for (const one of undo.reverse()) one()
  }
}

function change(node: number, isEnd: boolean, undo: (() => void)[]): void {
  const { XmlTreeCommonStruct: tree, xmlNodeGetContent, xmlNodeSetContent } = libxml().raw
  if (node === 0 || (tree.type(node) !== TEXT && tree.type(node) !== CDATA)) return
  const before = xmlNodeGetContent(node as never)
  let start = 0
  let end = before.length
  if (isEnd) while (BLANK.includes(before.charAt(end - 1)) && end > 0) end--
  else while (BLANK.includes(before.charAt(start)) && start < end) start++
  if (end - start === before.length) return
  xmlNodeSetContent(node as never, before.slice(start, end))
  undo.push(() => xmlNodeSetContent(node as never, before))
}
